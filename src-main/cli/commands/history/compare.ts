import { modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import { formatEstimate, isBeyondNoise } from '../../../../core/numeric/estimate.ts';
import { tutti } from '../../../../core/text/program.ts';
import { countEpoch, formatMetric, metricLabel } from '../../../../core/text/numbers.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import type { Hub } from '../../../hub/hub.ts';
import { readRunRecord } from '../../../store/runs/run-folder.ts';
import { findSubject } from '../../../campaigns/sweep-plan.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { type Look, lookOf, plainLook } from '../../look.ts';
import { renderTable } from '../../table.ts';
import { type Compared, compareRuns, type Comparison } from './comparison.ts';

/** `tutti compare <runs...>`, of runs and sweeps. @returns the exit code */
export function compare(names: readonly string[], { json = false }: { json?: boolean }): Promise<number> {
  if (names.length < 2) throw new UsageError('Name two runs or more: tutti compare <run> <run>.');
  return withHub(async (hub) => {
    const comparison = compareRuns(await Promise.all(names.map((name) => readCompared(hub, name))));
    const lines = json ? [toJson(comparison)] : describeComparison(comparison, lookOf(process.stdout));
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.finished;
  });
}

async function readCompared(hub: Hub, name: string): Promise<Compared> {
  const found = await orUsageError(findSubject(hub, name));
  if (found.kind === 'run') {
    const { folder, id } = found.row;
    return { ...(await readRunRecord(folder)), id, name: found.row.name };
  }
  const [first, ...others] = found.rows;
  return {
    sweep: found.sweep,
    runs: [
      await readRunRecord(first.folder),
      ...(await Promise.all(others.map(({ folder }) => readRunRecord(folder)))),
    ],
  };
}

/** A column for each run or sweep: status, best evaluation, metrics of the ensembles, and the options that differ. */
export function describeComparison(comparison: Comparison, look: Look = plainLook): string[] {
  const { runs, options, metrics, best } = comparison;
  const columns = [{ title: '', least: 16 }, ...runs.map(({ id }) => ({ title: id, right: true }))];
  const show = (value: unknown): string => (typeof value === 'string' ? value : value === null ? '-' : toJson(value));
  const hasSweeps = runs.some(({ seeds }) => seeds !== null);
  const rows = [
    ['name', ...runs.map(({ name }) => name)],
    ['status', ...runs.map(({ status }) => status)],
    ...(hasSweeps
      ? [['seeds', ...runs.map(({ seeds }) => (seeds === null ? '1' : `${seeds.finished} of ${seeds.of}`))]]
      : []),
    ['best', ...best.map((found) => (found === null ? '-' : describeBest(found)))],
    ...metrics.map(({ set, split, metric, values, standardErrors }) => [
      `${set} on ${split}: ${metric}`,
      ...values.map((value, index) =>
        value === null
          ? '-'
          : `${withError(value, standardErrors[index])}${index === bestOf(metric, values) ? ' *' : '  '}`,
      ),
    ]),
    ...options.map(({ path, values }) => [path, ...values.map(show)]),
  ];
  const same = options.length === 0 ? ['', 'All options are the same.'] : [];
  const note = hasSweeps ? ['', 'Sweeps: mean ± standard error of the mean over seeds (s / √n).'] : [];
  const mark = metrics.some(({ metric, values }) => bestOf(metric, values) !== null)
    ? ['', `* the best value. ${noiseOf(comparison)}`]
    : [];
  return [...renderTable(columns, rows, look), ...same, ...note, ...mark, ...describeDifferences(comparison, look)];
}

/**
 * The position of the best value; null where fewer than two are known, all are equal, or neither direction is better.
 */
function bestOf(metric: string, values: readonly (number | null)[]): number | null {
  const mode = modeOfMetric(metric) ?? null;
  const known = values.filter((value) => value !== null && Number.isFinite(value)) as number[];
  if (mode === null || known.length < 2 || new Set(known).size === 1) return null;
  return values.indexOf(mode === 'min' ? Math.min(...known) : Math.max(...known));
}

/** What the marks say about differences that chance explains. */
function noiseOf({ runs, differences }: Comparison): string {
  if (differences.length > 0) return 'Below stands which differences are beyond noise.';
  if (runs.every(({ seeds }) => seeds !== null)) return 'The sweeps share no seeds, so that no difference is paired.';
  return (
    'Whether a single run is better by more than noise is unknown: another seed may reverse it. ' +
    `Train both with several seeds, ${tutti} train <project> --repeat 5, and compare the sweeps.`
  );
}

/** How the sweeps differ from the first one. */
function describeDifferences({ differences }: Comparison, look: Look): string[] {
  return [...Map.groupBy(differences, ({ of }) => of)].flatMap(([of, own]) => {
    const columns = [
      { title: 'difference', least: 16 },
      { title: 'mean ± error', right: true },
      { title: 'seeds', right: true },
      { title: '' },
    ];
    const rows = own.map((found) => [
      `${found.set} on ${found.split}: ${found.metric}`,
      formatEstimate(found),
      String(found.count),
      verdictOn(found),
    ]);
    return [
      '',
      `${of} − ${own[0].from}, paired by seed; beyond noise where the 95 % interval leaves out 0:`,
      ...renderTable(columns, rows, look),
    ];
  });
}

/** Which of two sweeps is better, if that is beyond noise. */
function verdictOn({ of, from, metric, ...difference }: Comparison['differences'][number]): string {
  const mode = modeOfMetric(metric) ?? null;
  if (!isBeyondNoise(difference)) return 'within noise';
  if (mode === null) return 'beyond noise';
  return `beyond noise: ${difference.mean < 0 === (mode === 'min') ? of : from} is better`;
}

function describeBest({ metric, value, epoch, standardError }: NonNullable<Comparison['best'][number]>): string {
  const place = epoch === null ? '' : ` @ ${countEpoch(epoch)}`;
  return `${metricLabel(metric)} ${withError(value, standardError)}${place}`;
}

/** A single run, or a sweep of one seed, has no error. */
function withError(value: number, standardError: number | null): string {
  if (standardError === null) return formatMetric(value);
  return formatEstimate({ mean: value, standardError, count: Number.isNaN(standardError) ? 1 : 2 });
}

import { formatEstimate } from '../../../../core/numeric/format-estimate.ts';
import { countEpoch, formatMetric, metricLabel } from '../../../../core/text/numbers.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import type { Hub } from '../../../hub/hub.ts';
import { readRunRecord } from '../../../store/runs/run-folder.ts';
import { findSubject } from '../../../sweeps/find-sweep.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { type Look, lookOf, plainLook } from '../../output/look.ts';
import { renderTable } from '../../output/table.ts';
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
      ...values.map((value, index) => (value === null ? '-' : withError(value, standardErrors[index]))),
    ]),
    ...options.map(({ path, values }) => [path, ...values.map(show)]),
  ];
  const same = options.length === 0 ? ['', 'All options are the same.'] : [];
  const note = hasSweeps ? ['', 'Sweeps: mean ± standard error of the mean over seeds (s / √n).'] : [];
  return [...renderTable(columns, rows, look), ...same, ...note, ...describeDifferences(comparison, look)];
}

/** How the sweeps differ from the first one. */
function describeDifferences({ differences }: Comparison, look: Look): string[] {
  return [...Map.groupBy(differences, ({ of }) => of)].flatMap(([of, own]) => {
    const columns = [
      { title: 'difference', least: 16 },
      { title: 'mean ± error', right: true },
      { title: 'seeds', right: true },
    ];
    const rows = own.map((found) => [
      `${found.set} on ${found.split}: ${found.metric}`,
      formatEstimate(found),
      String(found.count),
    ]);
    return ['', `${of} − ${own[0].from}, paired by seed:`, ...renderTable(columns, rows, look)];
  });
}

function describeBest({ metric, value, epoch, standardError }: NonNullable<Comparison['best'][number]>): string {
  const place = epoch === null ? '' : ` @ ${countEpoch(epoch)}`;
  return `${metricLabel(metric)} ${withError(value, standardError)}${place}`;
}

/** Without an error where there is none: of a single run, or of one seed. */
function withError(value: number, standardError: number | null): string {
  if (standardError === null) return formatMetric(value);
  return formatEstimate({ mean: value, standardError, count: Number.isNaN(standardError) ? 1 : 2 });
}

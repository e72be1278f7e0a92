import { tutti } from '../../../../core/text/program.ts';
import { type Estimate, formatEstimate } from '../../../../core/numeric/estimate.ts';
import type { SweepSummary } from '../../../../core/protocol/pages/sweep-summary.ts';
import { ensemblesOf } from '../../../../core/protocol/run/record.ts';
import type { SweepScore } from '../../../../core/protocol/run/sweep/sweep-scores.ts';
import { metricLabel } from '../../../../core/text/numbers.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { type Look, plainLook } from '../../look.ts';
import { renderTable } from '../../table.ts';
import { comparedMetrics } from '../summary.ts';

/** How a sweep stands: a table of means with standard errors, and every run that does not count in them. */
export function describeSweep(summary: SweepSummary, look: Look = plainLook): string[] {
  const { sweep, runs, missing, best, scores } = summary;
  const finished = runs.filter(({ status }) => status === 'finished').length;
  return [
    `${printableLine(sweep.name)}: ${finished} of ${sweep.of} seeds finished (sweep ${sweep.id})`,
    ...(best === null ? [] : [`best ${metricLabel(best.metric)} ${formatEstimate(best)}`]),
    ...tableOf(scores, look),
    ...(scores.length === 0
      ? []
      : ['', 'Mean ± standard error of the mean over seeds: s / √n, where s is the standard deviation with n − 1.']),
    ...warningsOf(summary),
    ...(missing.length === 0 ? [] : [`To train the others: ${tutti} resume ${sweep.id}`]),
  ];
}

/** A line for each run that is not in the means, and for values that are not numbers. */
export function warningsOf({ runs, scores, best, missing }: SweepSummary): string[] {
  const uncounted = runs.filter(({ status }) => status !== 'finished');
  const leftOut = Map.groupBy(
    [...scores, ...(best === null ? [] : [{ ...best, set: 'best', split: 'validation' }])].flatMap(
      ({ leftOut: seeds, metric, set, split }) => seeds.map((seed) => ({ seed, what: `${metric} (${set}, ${split})` })),
    ),
    ({ seed }) => seed,
  );
  return [
    ...uncounted.map(({ seed, status, error }) => {
      const reason = error === null ? '' : `: ${printableLine(error.split('\n')[0].replace(/\.$/, ''))}`;
      return `warning: seed ${seed} ${status}${reason}. It is not in the means.`;
    }),
    ...(missing.length === 0 ? [] : [`warning: not trained yet: ${listSeeds(missing)}.`]),
    ...[...leftOut].map(
      ([seed, values]) =>
        `warning: seed ${seed} has no finite ${values
          .slice(0, 6)
          .map(({ what }) => what)
          .join(', ')}${values.length > 6 ? ` and ${values.length - 6} more` : ''}: left out of these means.`,
    ),
  ];
}

function listSeeds(seeds: readonly number[]): string {
  return `${seeds.length === 1 ? 'seed' : 'seeds'} ${seeds.join(', ')}`;
}

function tableOf(scores: readonly SweepScore[], look: Look): string[] {
  if (scores.length === 0) return [];
  const metrics = comparedMetrics.filter(({ name }) => scores.some(({ metric }) => metric === name));
  const columns = [
    { title: `on ${scores[0].split}` },
    { title: '' },
    ...metrics.map(({ title }, index) => ({ title, right: true, ...(index === 0 ? {} : { dispensable: index }) })),
    { title: 'seeds', right: true, dispensable: metrics.length },
  ];
  const sets = [...Map.groupBy(scores, ({ set, split }) => `${set} ${split}`).values()];
  return [
    '',
    ...renderTable(
      columns,
      sets.flatMap((set) => rowsOf(set, metrics)),
      look,
    ),
  ];
}

function rowsOf(scores: readonly SweepScore[], metrics: readonly { name: string }[]): string[][] {
  const of = (metric: string): SweepScore | undefined => scores.find((score) => score.metric === metric);
  const count = String(Math.max(...scores.map(({ ensemble }) => ensemble.count)));
  const ensembles = ensemblesOf(Object.fromEntries(scores.map(({ metric, ensemble }) => [metric, ensemble.mean])));
  const show = (found: Estimate | null | undefined): string => (found == null ? '-' : formatEstimate(found));
  return [
    [scores[0].set, 'average member', ...metrics.map(({ name }) => show(of(name)?.meanMember)), count],
    ...ensembles.map(({ label, prefix }) => [
      '',
      label,
      ...metrics.map(({ name }) => show(of(`${prefix}${name}`)?.ensemble)),
      count,
    ]),
  ];
}

/** A sweep: its means with standard errors, and its runs. */
export function describeSweepRuns(summary: SweepSummary, look: Look = plainLook): string[] {
  const columns = [
    { title: 'seed', right: true },
    { title: 'status' },
    { title: 'run' },
    { title: 'folder', dispensable: 1 },
  ];
  const rows = summary.runs.map(({ seed, status, id, folder }) => [String(seed), status, id, printableLine(folder)]);
  return [...describeSweep(summary, look), '', ...renderTable(columns, rows, look)];
}

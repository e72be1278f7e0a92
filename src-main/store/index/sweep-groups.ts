import { estimate } from '../../../core/numeric/estimate.ts';
import type { RunRow, SweepGroup } from '../../../core/protocol/pages/run-list.ts';
import { sweepStatus } from '../../../core/protocol/pages/sweep-summary.ts';

/**
 * What a list shows of a sweep.
 * @param rows its runs, at least one, the oldest first; of copies only the first counts
 */
export function groupOf(rows: readonly RunRow[]): SweepGroup {
  const byPlace = new Map(rows.toReversed().map((row) => [row.sweep?.index ?? 0, row]));
  const runs = [...byPlace.values()];
  const sweep = rows[0]?.sweep ?? null;
  if (sweep === null) throw new Error('A sweep has runs that name it.');
  const finished = runs.filter(({ status }) => status === 'finished');
  const metric = finished.find(({ best }) => best !== null)?.best?.metric;
  const values = finished.flatMap(({ best }) =>
    best !== null && best.metric === metric && Number.isFinite(best.value) ? [best.value] : [],
  );
  return {
    id: sweep.id,
    name: sweep.name,
    of: sweep.of,
    finished: finished.length,
    status: sweepStatus(sweep, runs),
    best: metric === undefined || values.length === 0 ? null : { metric, ...estimate(values) },
  };
}

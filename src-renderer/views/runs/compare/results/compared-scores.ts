import type { RouteLocationRaw } from 'vue-router';
import { sweepStatus } from '../../../../../core/protocol/pages/sweeps/sweep-summary.ts';
import type { RunStatus } from '../../../../../core/protocol/run/record.ts';
import { finishedRuns } from '../../../../../core/protocol/run/sweep/sweep-scores.ts';
import type { ComparedSubject } from '../compared-subject.ts';

export function statusOf({ sweep, runs }: ComparedSubject): RunStatus {
  const records = runs.map(({ record }) => record);
  return sweep === null ? records[0].status : sweepStatus(sweep, records);
}

/** The page of a run, or of a sweep. */
export function linkOf({ id, sweep }: Pick<ComparedSubject, 'id' | 'sweep'>): RouteLocationRaw {
  return sweep === null ? { name: 'run', params: { id } } : { name: 'compare', query: { runs: id } };
}

/** How many seeds of a sweep have finished: `2 of 3`; of a run `1`. */
export function seedsOf({ sweep, runs }: ComparedSubject): string {
  return sweep === null ? '1' : `${finishedRuns(runs.map(({ record }) => record)).length} of ${sweep.of}`;
}

/** How long the attempts that have ended trained, in seconds; of a sweep the sum over its runs. */
export function trainedSecondsOf({ runs }: ComparedSubject): number {
  return runs.reduce((sum, { row }) => sum + row.trainedSeconds, 0);
}

import { countEpoch } from '../../text/numbers.ts';
import type { ActiveRun, RunRow } from './run-list.ts';

/** A notification about a run that has ended, in the desktop app and in the browser. */
export interface RunNotice {
  id: string;
  title: string;
  body: string;
}

/** Part of the error message of a run that ended with a NaN or infinite loss (`NonFiniteLossError`). */
export const nonFiniteLoss = 'was not finite';

/** The ids of runs that were active before and are not any more. */
export function endedIds(before: readonly ActiveRun[], after: readonly ActiveRun[]): string[] {
  const active = new Set(after.map(({ id }) => id));
  return before.map(({ id }) => id).filter((id) => !active.has(id));
}

/** The notice of a run that has ended. */
export function noticeOfEnd(row: RunRow): RunNotice {
  return { id: row.id, title: `${row.name} ${whatHappened(row)}`, body: details(row) };
}

function whatHappened({ status, error }: RunRow): string {
  if (status === 'failed') return error?.includes(nonFiniteLoss) ? 'diverged' : 'failed';
  return status === 'stopped' ? 'was stopped' : status === 'interrupted' ? 'was interrupted' : 'has finished';
}

/** The first line of the error, else the best value. */
function details({ project, best, error }: RunRow): string {
  if (error !== null) return error.split('\n')[0];
  if (best === null) return project;
  return `${project}: best ${best.metric} ${best.value.toPrecision(4)} at epoch ${countEpoch(best.epoch)}`;
}

import type { RunRow } from './run-views.ts';

/** A notification about a run that has ended, in the desktop app and in the browser. */
export interface RunNotice {
  id: string;
  title: string;
  body: string;
}

/** Part of the error message of a run that ended with a NaN or infinite loss (`NonFiniteLossError`). */
export const nonFiniteLoss = 'was not finite';

/** Notices for the runs that trained in one list and have ended in a later one. */
export function noticesOfEnds(before: readonly RunRow[], after: readonly RunRow[]): RunNotice[] {
  const trained = new Set(before.filter(isTraining).map(({ id }) => id));
  return after
    .filter((row) => trained.has(row.id) && !isTraining(row))
    .map((row) => ({ id: row.id, title: `${row.name} ${whatHappened(row)}`, body: details(row) }));
}

function isTraining({ status }: RunRow): boolean {
  return status === 'created' || status === 'running';
}

function whatHappened({ status, error }: RunRow): string {
  if (status === 'failed') return error?.includes(nonFiniteLoss) ? 'diverged' : 'failed';
  return status === 'stopped' ? 'was stopped' : status === 'interrupted' ? 'was interrupted' : 'has finished';
}

/** The first line of the error, else the best value. */
function details({ project, best, error }: RunRow): string {
  if (error !== null) return error.split('\n')[0];
  if (best === null) return project;
  return `${project}: best ${best.metric} ${best.value.toPrecision(4)} at epoch ${best.epoch}`;
}

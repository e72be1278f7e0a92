import type { RunRow } from './run-views.ts';

/** A notification about a run that has ended, in the desktop app and in the browser. */
export interface RunNotice {
  id: string;
  title: string;
  body: string;
}

/** What the error of a run that NaN or infinity ended says of the loss (`NonFiniteLossError`). */
export const nonFiniteLoss = 'was not finite';

/** Notices of the runs that trained in one list and have ended in a later one. */
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

/** The first line of what went wrong, else the best that was reached. */
function details({ project, best, error }: RunRow): string {
  if (error !== null) return error.split('\n')[0];
  if (best === null) return project;
  return `${project}: best ${best.metric} ${best.value.toPrecision(4)} at epoch ${best.epoch}`;
}

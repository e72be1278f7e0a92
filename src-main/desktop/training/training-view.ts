import type { TrainingRun } from '../../hub/training-work.ts';

/** What the app shows of its training outside of its windows. */
export interface TrainingView {
  /** Lines of the tray's menu, one for each run. */
  lines: { id: string; text: string }[];
  /** The tray's tooltip. */
  summary: string;
  /** Of the bar on the taskbar's button or the dock's icon, from 0 to 1; null for none, `unknown` while nobody knows how far it is. */
  bar: { share: number | 'unknown'; isPaused: boolean } | null;
  /** Number of runs, on the app's icon. */
  badge: number;
}

/** More lines would fill the screen. */
const mostLines = 10;

/**
 * @param runs the runs that train in this process
 * @param count what trains in this process: these runs, sweeps between two runs, searches
 */
export function viewTraining(runs: readonly TrainingRun[], count: number): TrainingView {
  if (count === 0) return { lines: [], summary: 'Tutti', bar: null, badge: 0 };
  const lines = runs.slice(0, mostLines).map((run) => ({ id: run.id, text: `${shorten(run.name)}: ${describe(run)}` }));
  return { lines, summary: summarize(runs, count), bar: barOf(runs), badge: Math.max(runs.length, 1) };
}

function describe({ share, isPaused }: TrainingRun): string {
  const done = share === null ? 'starting' : formatShare(share);
  return isPaused ? `${done}, paused` : done;
}

function summarize(runs: readonly TrainingRun[], count: number): string {
  if (runs.length === 0) return count === 1 ? 'Tutti: a search trains' : `Tutti: ${count} searches train`;
  const [first] = runs;
  if (runs.length === 1) return `Tutti: ${shorten(first.name)}, ${describe(first)}`;
  const shares = runs.flatMap(({ share }) => share ?? []);
  const least = shares.length === runs.length ? `, at least ${formatShare(Math.min(...shares))}` : '';
  return `Tutti: ${runs.length} runs train${least}`;
}

/** The mean over all runs. It shows a pause only once all are paused. */
function barOf(runs: readonly TrainingRun[]): TrainingView['bar'] {
  const isPaused = runs.length > 0 && runs.every((run) => run.isPaused);
  if (runs.every(({ share }) => share === null)) return { share: 'unknown', isPaused };
  const sum = runs.reduce((total, { share }) => total + (share ?? 0), 0);
  return { share: sum / runs.length, isPaused };
}

/** Rounded down: only a run that has done all its steps shows 100 %. */
function formatShare(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

function shorten(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 39)}…`;
}

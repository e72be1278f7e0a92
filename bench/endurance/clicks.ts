import type { Window } from './windows.ts';

/** Round trips of one kind of click, in milliseconds. */
export interface Latency {
  name: string;
  median: number;
  p99: number;
  worst: number;
  count: number;
}

/** What a user clicks: the list of runs, one of the runs, the chart of the run that trains. */
const clicks: readonly [name: string, click: (window: Window, turn: number) => Promise<unknown>][] = [
  ['list of runs', ({ hub }) => hub.runs({ isArchived: false, offset: 0, limit: 100 })],
  ['open a run', ({ hub }, turn) => hub.run(`run-${String(turn % 1000).padStart(5, '0')}`)],
  ['open the run that trains', ({ hub }) => hub.run('endurance')],
  ['its chart', ({ hub }) => hub.series('endurance', { names: [], maximumPoints: 1000, fromStep: null, toStep: null })],
];

/** Clicks in turn until `isOver`, with a pause between two clicks as a fast user makes. */
export async function clickUntil(window: Window, isOver: () => boolean, pauseMs: number): Promise<Latency[]> {
  const times = clicks.map((): number[] => []);
  for (let turn = 0; !isOver(); turn += 1) {
    const [, click] = clicks[turn % clicks.length];
    const startedMs = performance.now();
    // An answer that never comes is as late as the window waits.
    await click(window, turn).catch((error: unknown) => console.error(error));
    times[turn % clicks.length].push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return clicks.map(([name], index) => summary(name, times[index]));
}

function summary(name: string, times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { name, median: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? Number.NaN, count: sorted.length };
}

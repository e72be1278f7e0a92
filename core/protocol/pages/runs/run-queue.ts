import { z } from 'zod';
import { runRequestSchema } from '../project-views.ts';

/** A run, or with `repeat` a sweep, that waits until no other run trains. */
const waitingRunSchema = z.strictObject({
  id: z.string().regex(/^[\w-]{1,64}$/),
  request: runRequestSchema,
  /** The name in lists: the request's, else the project's. */
  name: z.string(),
  addedAt: z.iso.datetime(),
  /** When a process began to start it; null while it waits. */
  startedAt: z.iso.datetime().nullable(),
  /** Why it could not start: it then waits for the user, and the queue continues with the next. */
  error: z.string().nullable(),
});
export type WaitingRun = z.output<typeof waitingRunSchema>;

/** `queue.json` in Tutti's home: the waiting runs in the order in which they start. */
export const queueFileSchema = z.strictObject({ format: z.literal(1), runs: z.array(waitingRunSchema) });

/** Most runs that may wait. */
export const mostWaiting = 1000;

/** The first run that may start; null if none waits. */
export function nextOf(runs: readonly WaitingRun[]): WaitingRun | null {
  return runs.find(({ error, startedAt }) => error === null && startedAt === null) ?? null;
}

/** The queue with one run moved to a place, from 0. */
export function withMoved(runs: readonly WaitingRun[], id: string, place: number): WaitingRun[] {
  const moved = runs.find((run) => run.id === id);
  if (moved === undefined) return [...runs];
  const rest = runs.filter((run) => run !== moved);
  const to = Math.min(Math.max(place, 0), rest.length);
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}

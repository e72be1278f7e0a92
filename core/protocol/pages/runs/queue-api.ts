import type { RunRequest, StartedRun } from '../project-views.ts';
import type { WaitingRun } from './run-queue.ts';

/** The calls of pages that concern the queue of waiting runs. */
export interface QueueApi {
  /** The waiting runs, in the order in which they start. */
  queue(): Promise<WaitingRun[]>;
  /** Puts a run or a sweep at the end of the queue. @returns its id there, and its place from 1 @throws as `startRun` does */
  enqueueRun(request: RunRequest): Promise<{ id: string; place: number }>;
  /** @param place from 0 */
  moveWaiting(id: string, place: number): Promise<void>;
  removeWaiting(id: string): Promise<void>;
  /** Starts a waiting run now, although others may train. @throws if it cannot start; it then stays in the queue with the reason */
  startWaiting(id: string): Promise<StartedRun>;
}

import { Worker } from 'node:worker_threads';

/** What the thread is given (`entries/guard.ts`). */
export interface GuardData {
  parentPid: number;
}

/**
 * Ends this process when its hub's process is gone. The closed socket also shows that, but only once the event loop turns: a
 * project's endless loop would outlive its run. Where the kernel offers no signal for it, a separate thread watches the
 * parent process. It takes about 27 MB, as the thread strips the types of its file.
 */
export function guardAgainstOrphaning(): void {
  const workerData: GuardData = { parentPid: process.ppid };
  const guard = new Worker(new URL('../entries/guard.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  guard.unref();
}

import { Worker } from 'node:worker_threads';
import { ownModule } from '../system/own-copies.ts';

/** What the thread is given (`entries/guard.ts`). */
export interface GuardData {
  parentPid: number;
}

/**
 * Ends this process soon after its hub's process has gone. The closed socket also shows that, but only once the event
 * loop turns: a project's endless loop would outlive its run. Where no keeper ends the worker
 * (`src-main/processes/keeper.ts`), a separate thread watches the parent process. It takes about 27 MB, as the thread
 * strips the types of its file.
 */
export function guardAgainstOrphaning(): void {
  const workerData: GuardData = { parentPid: process.ppid };
  const guard = new Worker(new URL(ownModule('entries/guard')), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  guard.unref();
}

/**
 * Whether the process that started this one still runs. Elsewhere an orphan gets another parent; on Windows it keeps
 * the number of the one that is gone.
 * @param parentPid the parent's number when this process started
 * @param system this process; tests give another one
 */
export function hasParent(
  parentPid: number,
  system: Pick<NodeJS.Process, 'platform' | 'ppid' | 'kill'> = process,
): boolean {
  if (system.platform !== 'win32') return system.ppid === parentPid;
  try {
    return system.kill(parentPid, 0);
  } catch (error) {
    // Another error means that it runs, and that this process has no rights over it.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

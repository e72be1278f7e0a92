import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeAsides } from '../../core/node/atomic-file.ts';
import { FileLock, lookAtLock } from '../../core/node/file-lock.ts';
import { errorCode, unlessMissing } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { homePaths } from '../store/home.ts';

const ending = '.lock';

/** Where each process that works on a study has a lock. */
export function workersFolder(study: string): string {
  return join(study, 'workers');
}

/** The lock of the one process that works on a discovery. */
export function discoveryLock(folder: string): string {
  return join(folder, 'search.lock');
}

/**
 * Whether a process of this machine works on a study or a discovery of this home: between two of their runs nothing
 * trains for a moment. A discovery that asks a person has ended until it is answered, and counts as none.
 */
export async function isCampaignUnderWay(): Promise<boolean> {
  const { studies, discoveries } = homePaths();
  if ((await foldersIn(studies)).some(hasWorkersHere)) return true;
  return (await foldersIn(discoveries)).some((folder) => lookAtLock(discoveryLock(folder)).kind === 'held');
}

/** The folders in a folder of Tutti's home, also linked ones; none where it does not exist yet. */
export async function foldersIn(parent: string): Promise<string[]> {
  const names = (await unlessMissing(readdir(parent))) ?? [];
  // The path of a file exists without the slash only.
  return names.map((name) => join(parent, name)).filter((folder) => existsSync(`${folder}/`));
}

/** A process that works on a study. It holds a lock while it lives, so that others see when it is gone. */
export class WorkerLock {
  readonly id: string;
  readonly #path: string;
  readonly #lock: FileLock;

  private constructor(id: string, path: string, lock: FileLock) {
    this.id = id;
    this.#path = path;
    this.#lock = lock;
  }

  static async take(folder: string): Promise<WorkerLock> {
    const workers = workersFolder(folder);
    await makeFolder(workers);
    await removeRemains(folder);
    const id = randomUUID();
    const path = join(workers, `${id}${ending}`);
    const lock = FileLock.tryTake(path);
    if (lock === null || !(await lock.isInPlace()))
      throw new Error(`Cannot lock ${path}, although it is new. Try again.`);
    return new WorkerLock(id, path, lock);
  }

  release(): void {
    this.#lock.release();
    rmSync(this.#path, { force: true });
  }
}

/** A process that begins to work creates its lock's file a moment before it takes the lock. */
const takenWithinMs = 60_000;

/** Removes what killed processes left in a study: their locks, which others can have now, and temporary files. */
async function removeRemains(folder: string): Promise<void> {
  await removeAsides(folder, { isShared: true });
  for (const id of workerIds(folder)) {
    const path = lockOf(folder, id);
    const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - madeMs > takenWithinMs && lookAtLock(path).kind === 'free') rmSync(path, { force: true });
  }
}

/** Whether a process that works on a study lives, or nobody can tell from here. */
export function isWorkerAlive(folder: string, id: string): boolean {
  return lookAtLock(lockOf(folder, id)).kind !== 'free';
}

/** Whether any process works on a study. */
export function hasWorkers(folder: string): boolean {
  return workerIds(folder).some((id) => isWorkerAlive(folder, id));
}

/**
 * Whether a process of this machine works on a study. Locks that cannot be looked at from here are those of other
 * machines.
 */
function hasWorkersHere(folder: string): boolean {
  return workerIds(folder).some((id) => lookAtLock(lockOf(folder, id)).kind === 'held');
}

function lockOf(folder: string, id: string): string {
  return join(workersFolder(folder), `${id}${ending}`);
}

function workerIds(folder: string): string[] {
  try {
    return readdirSync(workersFolder(folder)).flatMap((name) =>
      name.endsWith(ending) ? [name.slice(0, -ending.length)] : [],
    );
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

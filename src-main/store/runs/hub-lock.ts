import { join, resolve } from 'node:path';
import { FileLock, type LockSight, lookAtLock } from '../../../core/node/file-lock.ts';

/** Others hold the lock of a run without a hub only for the time of one small file, to mark it as interrupted. */
const WAIT_MS = 2_000;

/** The file whose lock the hub of a run holds from before its first write to the record until after the last. */
function hubLockPath(folder: string): string {
  return join(folder, 'hub.lock');
}

/** Takes the lock of a run's hub. @returns null if another process has it */
export function takeHubLock(folder: string): Promise<FileLock | null> {
  return FileLock.take(hubLockPath(folder), WAIT_MS);
}

/** Like {@link takeHubLock}, without waiting. */
export function tryHubLock(folder: string): FileLock | null {
  return FileLock.tryTake(hubLockPath(folder));
}

export function lookAtHub(folder: string): LockSight {
  return lookAtLock(hubLockPath(folder));
}

/**
 * Whether a run has a living hub, or nobody can tell from here. Only a lock that can be had proves that a hub is dead.
 * Host name and process id prove nothing: hosts are renamed, and each container counts its own processes.
 */
export function isHubAlive(folder: string): boolean {
  return lookAtHub(folder).kind !== 'free';
}

/** Holders keep the lock for the time of a few small files, so that waiting longer means that one of them hangs. */
const usualWaitMs = 2_000;

/** What this process does or waits to do, by folder, so that its own callers enter in the order in which they came. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Runs `action` while nobody else, in this process or another, does so for the same run folder. For short changes; the
 * hub that trains the run holds another lock (`hub-lock.ts`).
 * @param folder of a run or a study
 * @param waitMs how long others may keep it
 * @throws Error when another process keeps the lock for longer
 */
export function withRunLock<T>(folder: string, action: () => Promise<T>, waitMs = usualWaitMs): Promise<T> {
  const key = resolve(folder);
  const earlier = turns.get(key) ?? Promise.resolve();
  const turn = earlier.then(() => runLocked(key, action, waitMs));
  // The caller of this turn gets its failure; the next turn runs in any case.
  turns.set(
    key,
    turn.catch(() => undefined),
  );
  return turn;
}

async function runLocked<T>(folder: string, action: () => Promise<T>, waitMs: number): Promise<T> {
  const path = join(folder, '.lock');
  const lock = await FileLock.take(path, waitMs);
  if (lock === null) {
    throw new Error(
      `Cannot lock ${path}: another Tutti process has been changing its files for more than ${waitMs / 1000} s. ` +
        'Wait until it is done, or end it.',
    );
  }
  try {
    return await action();
  } finally {
    lock.release();
  }
}

const lookEveryMs = 1_000;

/** Looks once a second whether the folder of a run that trains is still in its place. */
export class FolderGuard {
  readonly #lock: FileLock;
  readonly #lost: () => void;
  readonly #timer: NodeJS.Timeout;
  #isLost = false;

  /**
   * @param lock a lock in the folder
   * @param lost called once, when the folder is gone
   */
  constructor(lock: FileLock, lost: () => void) {
    this.#lock = lock;
    this.#lost = lost;
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref();
  }

  /** Looks for the last time. @returns whether the folder is gone */
  async stop(): Promise<boolean> {
    clearInterval(this.#timer);
    await this.#look();
    return this.#isLost;
  }

  async #look(): Promise<void> {
    if (this.#isLost || (await this.#lock.isInPlace())) return;
    if (this.#isLost) return;
    this.#isLost = true;
    clearInterval(this.#timer);
    this.#lost();
  }
}

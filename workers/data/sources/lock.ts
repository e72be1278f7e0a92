import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../core/text/errors.ts';
import { FileLock } from '../../../core/node/file-lock.ts';

/** The system reports to nobody that a lock is free, so waiting means asking. */
const tryEveryMs = 200;

/**
 * Runs `action` while this process holds the lock of a file, which stays as an empty file. The system frees the lock of a process that ends in any way.
 * Where the file system has no locks, `action` runs without one: it must stay correct, though it may waste work, when it runs twice at the
 * same time.
 */
export async function withLock<T>(path: string, signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
  const lock = await acquire(path, signal);
  try {
    return await action();
  } finally {
    lock?.release();
  }
}

async function acquire(path: string, signal: AbortSignal | undefined): Promise<FileLock | null> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      const lock = FileLock.tryTake(path);
      if (lock !== null) return lock;
    } catch (error) {
      console.warn(`${messageOf(error)} Until then, several processes may download the same file.`);
      return null;
    }
    await delay(tryEveryMs, undefined, { signal });
  }
}

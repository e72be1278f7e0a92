import { futimesSync } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../../../core/node/file-error.ts';

const heartbeatMs = 5_000;
/** A lock that was not touched for this time is stale, even if its process id exists: the id may have been reused. */
const staleMs = 60_000;
/** Waiting means polling: no file event reports that the holder was killed. */
const pollMs = 200;

/**
 * Runs `action` while this process holds the lock file. Waits for another holder as long as it is alive.
 *
 * Takes over the lock of a dead process. Two processes may take over the same lock at the same moment, so `action` must stay
 * correct (though it may waste work) when it runs twice at the same time.
 */
export async function withLock<T>(path: string, signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
  const handle = await acquire(path, signal);
  const heartbeat = setInterval(() => futimesSync(handle.fd, new Date(), new Date()), heartbeatMs);
  try {
    await handle.writeFile(`${process.pid} ${hostname()}`);
    return await action();
  } finally {
    clearInterval(heartbeat);
    await handle.close();
    await rm(path, { force: true });
  }
}

async function acquire(path: string, signal: AbortSignal | undefined): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(path, 'wx');
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    if (await isStale(path)) await rm(path, { force: true });
    else await delay(pollMs, undefined, { signal });
  }
}

/** Only its age tells whether a lock is stale that has no readable owner (killed while writing it) or is from another host. */
async function isStale(path: string): Promise<boolean> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (Date.now() - mtimeMs > staleMs) return true;
    const [, pid, host] = /^(\d+) (.+)$/.exec(owner) ?? [];
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

import { futimesSync } from 'node:fs';
import { open, readFile, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from './files.ts';

const heartbeatMs = 5_000;
/** A holder that has not touched its lock for so long is gone, even where its process id has been given to another. */
const staleMs = 60_000;
/** The holder may be killed, which no file event announces: waiting means looking again. */
const pollMs = 200;

/**
 * Runs `action` while this process alone holds the lock file, and waits for another holder that is alive.
 *
 * The lock of a dead process is taken over. Two processes that take over the same one at the same moment can both come
 * through, so `action` must stay correct (though it may waste work) when it runs twice at once.
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
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    if (await isStale(path)) await rm(path, { force: true });
    else await delay(pollMs, undefined, { signal });
  }
}

/** A lock without a readable owner (killed while it was written) and one of another host can only be judged by age. */
async function isStale(path: string): Promise<boolean> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (Date.now() - mtimeMs > staleMs) return true;
    const [, pid, host] = /^(\d+) (.+)$/.exec(owner) ?? [];
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

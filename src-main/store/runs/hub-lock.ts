import { join } from 'node:path';
import { FileLock, lookAtLock, type LockSight } from '../../../core/node/file-lock.ts';

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
 * Whether a run has a living hub, or nobody can tell from here. Only a lock that can be had proves that a hub is dead. Host name and process
 * id prove nothing: hosts are renamed, and each container counts its own processes.
 */
export function isHubAlive(folder: string): boolean {
  return lookAtHub(folder).kind !== 'free';
}

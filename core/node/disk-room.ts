import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { formatBytes } from '../text/numbers.ts';
import { errorCode, explainFileError, FileError } from './file-error.ts';

/** A wait for space on a disk, or in a user's quota. */
export interface RoomWait {
  /** The file that could not be written. */
  path: string;
  /** Null where it is not known. */
  neededBytes: number | null;
  freeBytes: number;
  /** A sentence for the user: what waits, how much is needed, and what to do. */
  message: string;
}

export interface RoomOptions {
  onFull(wait: RoomWait): void;
  /** The write that waited succeeded. */
  onRoom(): void;
  /** Whether to wait no more. The error of the last attempt is then thrown. */
  isAbandoned(): boolean;
  /** Waits until the next look at the disk; default: a second. */
  pause?: () => Promise<unknown>;
}

const lookEveryMs = 1_000;
/** The free space of a disk says nothing about a quota, so every few looks the write is tried. */
const looksBetweenAttempts = 10;

/**
 * Repeats a write while it fails for lack of space, as soon as enough is free. All writes that this is used for either
 * succeed or leave the old content.
 * @throws any other error, and the last one when the wait is abandoned
 */
export async function whenThereIsRoom<T>(write: () => Promise<T>, options: RoomOptions): Promise<T> {
  let isWaiting = false;
  for (;;) {
    try {
      const result = await write();
      if (isWaiting) options.onRoom();
      return result;
    } catch (error) {
      const full = asFullDisk(error);
      if (full === null || options.isAbandoned()) throw error;
      if (!isWaiting) options.onFull(await describeWait(full));
      isWaiting = true;
      await untilThereMayBeRoom(full, options);
    }
  }
}

/** The error as one of a full disk or quota; null for any other error. */
export function asFullDisk(error: unknown): FileError | null {
  const code = errorCode(error);
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return null;
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : '.';
  const explained = explainFileError(error, path, 'write');
  return explained instanceof FileError ? explained : null;
}

/** Free bytes on the disk of `folder`, which need not exist yet. */
export async function readFreeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if (errorCode(error) === 'ENOENT' && parent !== folder) return readFreeBytes(parent);
    throw explainFileError(error, folder, 'find the free space of');
  }
}

async function untilThereMayBeRoom({ path, code, neededBytes }: FileError, options: RoomOptions): Promise<void> {
  const pause = options.pause ?? (() => wait(lookEveryMs));
  const fullBytes = await readFreeBytes(dirname(path));
  for (let looks = 1; looks <= looksBetweenAttempts; looks += 1) {
    await pause();
    if (options.isAbandoned()) return;
    if (code !== 'ENOSPC') continue;
    const freeBytes = await readFreeBytes(dirname(path));
    // Where the need is not known, any space that became free is worth an attempt.
    if (neededBytes === null ? freeBytes > fullBytes : freeBytes >= neededBytes) return;
  }
}

async function describeWait({ path, code, neededBytes }: FileError): Promise<RoomWait> {
  const freeBytes = await readFreeBytes(dirname(path));
  const reason = code === 'EDQUOT' ? "this user's disk quota is used up" : 'the disk is full';
  const free = code === 'EDQUOT' ? '' : ` (${formatBytes(freeBytes)} are free)`;
  const need = neededBytes === null ? '' : ` It needs ${formatBytes(neededBytes)}${free}.`;
  return {
    path,
    neededBytes,
    freeBytes,
    message:
      `Waiting for disk space: ${reason} (${code}), and ${path} cannot be written.${need} Everything saved so far ` +
      'is intact. Free some space there, and the run continues by itself; or stop it.',
  };
}

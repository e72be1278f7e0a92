import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { errorCode, explainFileError, rereadStale } from './file-error.ts';

/** An entry of a run's folder that is neither read nor written, because it is not a file of that folder. */
export class ForeignEntryError extends Error {
  /** The entry, relative to the run's folder. */
  readonly path: string;
  readonly reason: string;

  constructor(folder: string, path: string, reason: string) {
    super(`${join(folder, path)} was not opened: ${reason}. Put what belongs there in its place.`);
    this.name = 'ForeignEntryError';
    this.path = path;
    this.reason = reason;
  }
}

/** What was read; null for an entry that is not the run's own, after `tell` got the error that names it. */
export async function unlessForeign<T>(
  operation: Promise<T>,
  tell: (error: ForeignEntryError) => void,
): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (!(error instanceof ForeignEntryError)) throw error;
    tell(error);
    return null;
  }
}

const maximumAttempts = 100;

/** Never follows a link at the end of the path, and never waits for the other side of a named pipe. */
const careful = constants.O_NOFOLLOW | constants.O_NONBLOCK;
/**
 * `append` creates the file if there is none and can read it too; `extend` only writes to the end of one that exists,
 * `change` anywhere in it.
 */
const flags = {
  read: constants.O_RDONLY | careful,
  append: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | careful,
  extend: constants.O_WRONLY | constants.O_APPEND | careful,
  change: constants.O_WRONLY | careful,
};
export type FileAccess = keyof typeof flags;

/**
 * Opens a file in a run's folder. Somebody else may have made the folder, and a project writes to it, so an entry may
 * be a link to a private file of this user, which an export or a page would pass on, or which the hub would write to.
 * @param path relative to the folder
 * @param action what an error says that was tried, where it is opened for reading
 * @throws ForeignEntryError for a symbolic link, also of a folder on the way, and for anything but a regular file
 * @throws Error for one that cannot be opened; its code is `ENOENT` if there is none. It explains itself where the file
 * is opened for reading.
 */
export async function openOwnFile(
  folder: string,
  path: string,
  access: FileAccess = 'read',
  action = 'read',
): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    const handle = await rereadStale(() => openOnce(folder, path, { access, action }));
    if (handle !== null) return handle;
    if (attempt === maximumAttempts) throw new ForeignEntryError(folder, path, 'it is replaced all the time');
  }
}

/** @returns null if the file was replaced while it was opened, as the process that trains the run replaces files */
async function openOnce(
  folder: string,
  path: string,
  { access, action }: { access: FileAccess; action: string },
): Promise<FileHandle | null> {
  const full = join(folder, path);
  // Checked before anything is created: the folders on the way must be those of the run.
  if (access === 'append') await requireOwnPath(folder, path, dirname(full));
  const handle = await open(full, flags[access]).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ELOOP' || code === 'EMLINK') throw new ForeignEntryError(folder, path, 'it is a symbolic link');
    if (code === 'ENXIO') throw new ForeignEntryError(folder, path, 'it is not a regular file');
    // Those who write say how much they need.
    throw access === 'read' ? explainFileError(error, full, action) : error;
  });
  try {
    if (await isAtItsPath(handle, folder, path)) return handle;
    await handle.close();
    return null;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The text of a file in a run's folder. @throws as {@link openOwnFile} does */
export async function readOwnText(folder: string, path: string): Promise<string> {
  return (await readOwnBytes(folder, path)).toString('utf8');
}

/** The content of a file in a run's folder. @throws as {@link openOwnFile} does */
export function readOwnBytes(folder: string, path: string): Promise<Buffer<ArrayBuffer>> {
  return rereadStale(() => readOnce(folder, path));
}

async function readOnce(folder: string, path: string): Promise<Buffer<ArrayBuffer>> {
  const handle = await openOwnFile(folder, path);
  try {
    return await handle.readFile();
  } catch (error) {
    throw explainFileError(error, join(folder, path), 'read');
  } finally {
    await handle.close();
  }
}

/** Whether the path still leads to the open file. @throws ForeignEntryError for what is not a file of the folder */
async function isAtItsPath(handle: FileHandle, folder: string, path: string): Promise<boolean> {
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) throw new ForeignEntryError(folder, path, 'it is not a regular file');
  const real = await requireOwnPath(folder, path, join(folder, path));
  // Compares the open file too: the path may have been exchanged meanwhile.
  const named = await stat(real, { bigint: true });
  return named.ino === opened.ino && named.dev === opened.dev;
}

/**
 * @throws ForeignEntryError where a link leads out of the run's folder to a folder in it, or on the way to it; Error
 * with `ENOENT` if there is none
 */
export async function requireOwnFolder(folder: string, path: string): Promise<void> {
  await requireOwnPath(folder, path, join(folder, path));
}

/**
 * @returns `part`, a path in the folder, without links in the folder's own path
 * @throws ForeignEntryError where a link leads out of the folder
 */
async function requireOwnPath(folder: string, path: string, part: string): Promise<string> {
  const real = await realpath(part);
  if (real === join(await realpath(folder), relative(folder, part))) return real;
  throw new ForeignEntryError(folder, path, 'a symbolic link leads there');
}

import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, explainFileError, rereadStale } from '../../../core/node/file-error.ts';

/** An entry of a run's folder that is not read, because it is not a file of that folder. */
export class ForeignEntryError extends Error {
  /** The entry, relative to the run's folder. */
  readonly path: string;
  readonly reason: string;

  constructor(folder: string, path: string, reason: string) {
    super(`${join(folder, path)} was not read: ${reason}. Replace it by the file itself.`);
    this.name = 'ForeignEntryError';
    this.path = path;
    this.reason = reason;
  }
}

const maximumAttempts = 100;

/** Opens for reading without following a link at the end of the path, and without waiting for the writer of a named pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file in a run's folder for reading. Somebody else may have made the folder, so an entry may be a link to a private file of this user,
 * which an export or a page would pass on.
 * @param path relative to the folder
 * @throws ForeignEntryError for a symbolic link, also of a folder on the way, and for anything but a regular file
 * @throws FileError for one that cannot be opened; its code is `ENOENT` if there is none
 */
export async function openOwnFile(folder: string, path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    const handle = await rereadStale(() => openOnce(folder, path));
    if (handle !== null) return handle;
    if (attempt === maximumAttempts) throw new ForeignEntryError(folder, path, 'it is replaced all the time');
  }
}

/** @returns null if the file was replaced while it was opened, as the process that trains the run replaces files */
async function openOnce(folder: string, path: string): Promise<FileHandle | null> {
  const full = join(folder, path);
  const handle = await open(full, flags).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ELOOP' || code === 'EMLINK') throw new ForeignEntryError(folder, path, 'it is a symbolic link');
    if (code === 'ENXIO') throw new ForeignEntryError(folder, path, 'it is not a regular file');
    throw explainFileError(error, full, 'read');
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
export function readOwnText(folder: string, path: string): Promise<string> {
  return rereadStale(() => readOnce(folder, path));
}

async function readOnce(folder: string, path: string): Promise<string> {
  const handle = await openOwnFile(folder, path);
  try {
    return await handle.readFile('utf8');
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
  const real = await realpath(join(folder, path));
  if (real !== join(await realpath(folder), path)) {
    throw new ForeignEntryError(folder, path, 'a symbolic link leads there');
  }
  // Compares the open file too: the path may have been exchanged meanwhile.
  const named = await stat(real, { bigint: true });
  return named.ino === opened.ino && named.dev === opened.dev;
}

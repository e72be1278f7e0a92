import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { type FileHandle, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { replaceFile } from './atomic-file.ts';
import { errorCode, explainFileError, unlessMissing } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { ForeignEntryError, openOwnFile, requireOwnFolder } from './own-files.ts';

/**
 * What is done in a run's folder beside opening its files. As in `own-files.ts`, paths are relative to that folder, and
 * where a symbolic link leads to another place, or something else is where a folder should be, all functions throw
 * `ForeignEntryError`.
 */

/** Creates a folder and those on the way to it, unless they are there. The run's folder itself must exist. */
export async function makeOwnFolder(folder: string, path: string): Promise<void> {
  const parent = dirname(path);
  if (parent !== '.') await makeOwnFolder(folder, parent);
  await requireOwnFolder(folder, parent);
  await makeFolder(join(folder, path)).catch(async (error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') throw new ForeignEntryError(folder, path, 'it is not a folder');
    // A link to nothing is in the way of the folder.
    if (errorCode(error) === 'ENOENT') throw new ForeignEntryError(folder, path, 'a symbolic link leads there');
    throw error;
  });
  await requireOwnFolder(folder, path);
}

/** An entry below a folder of a run. */
export interface OwnEntry {
  /** Relative to the run's folder, with `/`. */
  path: string;
  name: string;
  /** `other`: a link, a pipe, a device, a socket. */
  kind: 'file' | 'folder' | 'other';
}

/**
 * The entries of a folder, by path, without following links; none if there is no such folder.
 * @param isDeep also the entries below them
 */
export async function listOwnFolder(
  folder: string,
  path: string,
  { isDeep = false }: { isDeep?: boolean } = {},
): Promise<OwnEntry[]> {
  const full = join(folder, path);
  if (!(await isOwnFolder(folder, path))) return [];
  const found = await unlessMissing(readdir(full, { recursive: isDeep, withFileTypes: true })).catch(
    (error: unknown) => {
      if (errorCode(error) === 'ENOTDIR') throw new ForeignEntryError(folder, path, 'it is not a folder');
      throw explainFileError(error, full, 'read');
    },
  );
  const entries = (found ?? []).map((entry) => ({
    path: relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'),
    name: entry.name,
    kind: kindOf(entry),
  }));
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** False if it is missing. */
async function isOwnFolder(folder: string, path: string): Promise<boolean> {
  try {
    await requireOwnFolder(folder, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function kindOf(entry: Dirent): OwnEntry['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : 'other';
}

/**
 * Whether one of the run's own folders has an entry of such a name, itself or in a folder below. A link in the folder's
 * place has none.
 */
export function hasOwnEntry(folder: string, path: string, name: RegExp): boolean {
  const full = join(folder, path);
  if (lstatSync(full, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return readdirSync(full, { recursive: true, encoding: 'utf8' }).some((entry) => name.test(basename(entry)));
}

/**
 * Replaces a file as a whole, as `writeFileAtomic` does; creates missing folders in the run's folder. A link in the
 * file's place is replaced, not followed.
 */
export async function writeOwnFile(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  await replaceOwnFile(folder, path, (handle) => handle.writeFile(content));
}

/** Like {@link writeOwnFile}, for content that `fill` writes piece by piece. */
export async function replaceOwnFile(
  folder: string,
  path: string,
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const parent = dirname(path);
  if (parent !== '.') await makeOwnFolder(folder, parent);
  await replaceFile(join(folder, path), fill);
}

/** Removes a file, or a folder with all in it, if it is there. A link in its place is removed, not what it leads to. */
export async function removeOwn(folder: string, path: string): Promise<void> {
  if (!(await isOwnFolder(folder, dirname(path)))) return;
  await rm(join(folder, path), { recursive: true, force: true });
}

const pieceBytes = 2 ** 20;

/** Copies a file of a run's folder into another folder. @returns size and SHA-256 of what was copied */
export async function copyOwnFile(
  folder: string,
  path: string,
  to: { folder: string; path: string },
): Promise<{ sha256: string; bytes: number }> {
  const handle = await openOwnFile(folder, path);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await replaceOwnFile(to.folder, to.path, async (into) => {
      for await (const piece of handle.createReadStream({ highWaterMark: pieceBytes, autoClose: false })) {
        const read = piece as Uint8Array;
        hash.update(read);
        bytes += read.byteLength;
        await into.appendFile(read);
      }
    });
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './file-error.ts';
import { flushFolder } from './flush-folder.ts';

/**
 * Creates a folder and those on the way to it, if they are missing, and flushes their names to the disk. Node's
 * recursive `mkdir` never returns where a file system has a folder but takes no other in it, as `/proc` does; this
 * refuses it.
 * @param mode permissions of the created folders, such as 0o700
 * @throws Error with the system's code; ENOTDIR if a file has the name of a folder, ENOTSUP if the file system takes no
 * folders
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  if (await makeOne(folder, mode)) return;
  const parent = dirname(folder);
  if (parent !== folder) {
    await makeFolder(parent, mode);
    if (await makeOne(folder, mode)) return;
  }
  throw Object.assign(new Error(`${parent} takes no folders.`), { code: 'ENOTSUP' });
}

/** @returns false if its parent is missing, or says so */
async function makeOne(folder: string, mode?: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode });
    await flushFolder(dirname(folder));
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return false;
    if (code === 'EEXIST') return await requireFolder(folder);
    throw error;
  }
}

async function requireFolder(folder: string): Promise<true> {
  if ((await stat(folder)).isDirectory()) return true;
  throw Object.assign(new Error(`${folder} is a file, not a folder.`), { code: 'ENOTDIR' });
}

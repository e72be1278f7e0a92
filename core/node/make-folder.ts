import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './file-error.ts';

/**
 * What a system answers that cannot flush folders: some network and FUSE file systems, or one that may enter the
 * folder, but not read it.
 */
const cannotFlush = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EISDIR',
  'EACCES',
  'EPERM',
  'ERR_ACCESS_DENIED',
]);

/**
 * Makes created, renamed and removed names in a folder survive a power cut. Windows cannot open folders; NTFS journals
 * names. Where the file system cannot flush folders, names survive as far as it promises by itself.
 */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!cannotFlush.has(errorCode(error) ?? '')) throw error;
  }
}

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

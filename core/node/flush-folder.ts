import { open } from 'node:fs/promises';
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

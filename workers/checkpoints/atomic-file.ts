import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a whole file so that a crash or a power cut leaves either the old content or the new, never a mixture: aside in
 * the same folder, flushed, renamed, and the folder flushed. Missing folders are made. A path has one writer at a time:
 * the file aside is always `<path>.tmp`, so that what a killed process left there is overwritten, not collected.
 *
 * @throws an error that names the path, the bytes needed and the remedy; whatever `path` held before is untouched.
 */
export async function writeFileAtomically(path: string, content: Uint8Array | string): Promise<void> {
  const aside = `${path}.tmp`;
  await writeFlushed(aside, content);
  await renameFlushed(aside, path);
}

/** Writes a file and flushes it to the disk. Not atomic: a crash leaves a part of it, an error leaves nothing. */
export async function writeFlushed(path: string, content: Uint8Array | string): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'w');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    // A partial file on a full disk would only make the shortage worse.
    const leftover = await rm(path, { force: true }).then(
      () => '',
      (failure: unknown) => ` What was written of it could not be removed either (${errorCode(failure)}).`,
    );
    throw new Error(explainWriteError(error, path, bytes.byteLength) + leftover, { cause: error });
  }
}

/** Renames within a folder, replacing the target, and makes the new name survive a power cut. */
export async function renameFlushed(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
    await flushFolder(dirname(to));
  } catch (error) {
    throw new Error(explainWriteError(error, to, 0), { cause: error });
  }
}

/** Makes names that were made or removed in a folder survive a power cut. Windows cannot open folders; NTFS journals names. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Says in a sentence why a file could not be written, and what helps. */
export function explainWriteError(error: unknown, path: string, neededBytes: number): string {
  const code = errorCode(error);
  const folder = dirname(path);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return (
        `Cannot write ${path}: ${code === 'ENOSPC' ? 'the disk is full' : 'the disk quota is used up'}, and the file ` +
        `needs ${neededBytes} bytes. Free some space, or put the run on another disk.`
      );
    case 'EACCES':
    case 'EPERM':
      return (
        `Cannot write ${path} (${neededBytes} bytes): no permission. Give this user write permission for ${folder}, ` +
        `or choose a folder that it may write to.`
      );
    case 'EROFS':
      return (
        `Cannot write ${path} (${neededBytes} bytes): its disk is mounted read-only. Mount it writable, or choose a ` +
        `folder on another disk.`
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return `Cannot write ${path}: a part of ${folder} is a file where a folder is needed. Move that file away.`;
    default:
      return `Cannot write ${path} (${neededBytes} bytes): ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** The `code` of a system error (`ENOENT`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What `operation` gives, or null where the file or folder it needs is not there. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

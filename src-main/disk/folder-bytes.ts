import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../core/node/file-error.ts';

/** Bytes of all files in a folder; links do not count. 0 for a folder that is absent, or that vanishes meanwhile. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = (await unlessMissing(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  return filesBytes(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)));
}

export async function filesBytes(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await unlessMissing(lstat(path)))?.size ?? 0;
  return bytes;
}

import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/text/errors.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';

/**
 * Renames what lies in place of a file to which the hub appends, where nothing can be appended: a link, a pipe, a
 * folder, a file without permission, or one that `check` refuses. Otherwise this one entry would end every resume.
 * @param path relative to the run's folder
 * @param check reads the first bytes. @throws Error for a file of another kind
 * @returns what was wrong with it and where it is now; null where nothing is wrong
 */
export async function setAsideUnusable(
  folder: string,
  path: string,
  check: (start: string) => void = () => undefined,
): Promise<string | null> {
  try {
    const start = await readStart(folder, path);
    if (start !== null) check(start);
    return null;
  } catch (error) {
    return `${messageOf(error)} ${await setAside(folder, path)}`;
  }
}

/** Does the same as {@link setAsideUnusable} for a folder in which the hub creates files. */
export async function setAsideUnlessFolder(folder: string, path: string): Promise<string | null> {
  const found = await unlessMissing(lstat(join(folder, path)));
  if (found === null || found.isDirectory()) return null;
  return `${join(folder, path)} is no folder. ${await setAside(folder, path)}`;
}

const startBytes = 2 ** 16;

async function readStart(folder: string, path: string): Promise<string | null> {
  const reading = await unlessMissing(openOwnFile(folder, path));
  if (reading === null) return null;
  try {
    const { bytesRead, buffer } = await reading.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const writing = await openOwnFile(folder, path, 'extend');
    await writing.close();
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await reading.close();
  }
}

async function setAside(folder: string, path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const to = `${path}.damaged-${number}`;
    if ((await unlessMissing(lstat(join(folder, to)))) !== null) continue;
    await rename(join(folder, path), join(folder, to));
    return `It was set aside as ${to}, and the run continues with a new one.`;
  }
}

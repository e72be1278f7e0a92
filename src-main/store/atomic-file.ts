import { constants } from 'node:fs';
import { copyFile, link, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, explainFileError } from './file-error.ts';

/** Ending of files that are still being written: never part of a run, safe to delete when no process writes them. */
export const ASIDE_ENDING = '.tmp';

/** Ending of what was deleted on a disk where there is no trash; it is gone a few seconds later. */
export const DELETED_ENDING = '.deleted';

let asideCount = 0;

/**
 * Replaces a file as a whole: it is written aside, flushed and renamed, so that readers, and a machine that loses its
 * power, find the old content or the new, never a part of it. Of two writers at a time the later rename wins.
 * @throws FileError when the disk or the permissions forbid it; the old file is then untouched
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await replaceFile(path, (handle) => handle.writeFile(content));
}

/** As {@link writeFileAtomic}, for content that `fill` writes piece by piece. */
export async function replaceFile(path: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
  await viaAside(path, fill, (aside) => rename(aside, path));
}

/**
 * Creates a file that must not exist yet: of several processes at a time exactly one succeeds, and the file is never
 * seen half written.
 * @returns false when it exists already
 */
export async function createFileExclusively(path: string, content: string): Promise<boolean> {
  let created = true;
  await viaAside(
    path,
    (handle) => handle.writeFile(content),
    async (aside) => {
      created = await linkExclusively(aside, path);
      await rm(aside);
    },
  );
  return created;
}

async function viaAside(
  path: string,
  fill: (handle: FileHandle) => Promise<void>,
  publish: (aside: string) => Promise<void>,
): Promise<void> {
  asideCount += 1;
  const aside = `${path}.${process.pid}-${asideCount}${ASIDE_ENDING}`;
  try {
    await writeDurably(aside, fill);
    await publish(aside);
    await flushFolder(dirname(path));
  } catch (error) {
    // The first error is the one to report, whether or not this clean-up works.
    await rm(aside, { force: true }).catch(() => undefined);
    throw explainFileError(error, path, 'write');
  }
}

async function writeDurably(path: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await fill(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkExclusively(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (errorCode(error) === 'EEXIST') throw error;
      // Some file systems (exFAT, some network shares) know no hard links.
      await copyFile(from, to, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Makes a rename in the folder survive a power cut. Windows offers no such call, and needs none. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { constants } from 'node:fs';
import { copyFile, link, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { errorCode, explainFileError } from './file-error.ts';
import { flushFolder } from './flush-folder.ts';
import { makeFolder } from './make-folder.ts';

/** Ending of temporary files. They are never part of a run, and may be deleted when no process writes them. */
export const ASIDE_ENDING = '.tmp';

/** Ending of a deleted folder on a disk without a trash. It is removed a few seconds later. */
export const DELETED_ENDING = '.deleted';

let asideCount = 0;

/**
 * Replaces a file as a whole: writes a temporary file, flushes it and renames it. Readers find the old content or the new,
 * never a part of it, also after a power cut. Of two concurrent writers the later rename wins.
 * @throws FileError when the disk or the permissions forbid it; the old file is then untouched
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await replaceFile(path, (handle) => handle.writeFile(content));
}

/** Like {@link writeFileAtomic}, for content that `fill` writes piece by piece. */
export async function replaceFile(path: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
  await viaAside(path, fill, (aside) => renameOver(aside, path));
}

/**
 * Creates a file that must not exist yet. Of several concurrent processes exactly one succeeds, and no reader sees half a
 * file.
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

/**
 * Like {@link writeFileAtomic}, for a path that only one process writes: the temporary file is always `<path>.tmp`, so that
 * the next write replaces what a killed process left there. Creates missing folders.
 */
export async function writeFileAsOnlyWriter(path: string, content: Uint8Array | string): Promise<void> {
  const aside = `${path}${ASIDE_ENDING}`;
  await writeFlushed(aside, content);
  await renameFlushed(aside, path);
}

/**
 * Writes a file and flushes it and its name to the disk; creates missing folders. Not atomic: a crash leaves a part of the file, an
 * error leaves nothing.
 * @throws FileError naming the path, the reason and the bytes that the file needs
 */
export async function writeFlushed(path: string, content: Uint8Array | string): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  try {
    await makeFolder(dirname(path));
    await writeDurably(path, 'w', (handle) => handle.writeFile(bytes));
    await flushFolder(dirname(path));
  } catch (error) {
    await removePartial(path);
    throw explainFileError(error, path, 'write', bytes.byteLength);
  }
}

/** Renames within a folder, replaces the target, and makes the new name survive a power cut. */
export async function renameFlushed(from: string, to: string): Promise<void> {
  try {
    await renameOver(from, to);
    await flushFolder(dirname(to));
  } catch (error) {
    throw explainFileError(error, to, 'write');
  }
}

/** On Windows a file cannot be replaced while another process has it open, be it a reader of Tutti or a virus scanner. Both soon close it. */
const passing = new Set(['EPERM', 'EACCES', 'EBUSY']);
const pausesMs = [10, 20, 40, 80, 160, 320, 640];

/** Renames, and replaces the target. On Windows it tries for 1.3 s while the target is open elsewhere. */
export async function renameOver(
  from: string,
  to: string,
  { platform, move }: { platform: string; move: typeof rename } = { platform: process.platform, move: rename },
): Promise<void> {
  for (const pauseMs of platform === 'win32' ? pausesMs : []) {
    try {
      return await move(from, to);
    } catch (error) {
      if (!passing.has(errorCode(error) ?? '')) throw error;
    }
    await setTimeout(pauseMs);
  }
  await move(from, to);
}

async function viaAside(
  path: string,
  fill: (handle: FileHandle) => Promise<void>,
  publish: (aside: string) => Promise<void>,
): Promise<void> {
  asideCount += 1;
  const aside = `${path}.${process.pid}-${asideCount}${ASIDE_ENDING}`;
  try {
    await writeDurably(aside, 'wx', fill);
    await publish(aside);
    await flushFolder(dirname(path));
  } catch (error) {
    await removePartial(aside);
    throw explainFileError(error, path, 'write');
  }
}

async function writeDurably(
  path: string,
  flags: 'w' | 'wx',
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(path, flags);
  try {
    await fill(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A partial file on a full disk would make the shortage worse. The caller reports its first error, not this one. */
async function removePartial(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

/** Gives a file a second name, or copies it where the file system has no second names. @returns false when the name is taken */
export async function linkExclusively(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (errorCode(error) === 'EEXIST') throw error;
      // Some file systems (exFAT, some network shares) have no hard links.
      await copyFile(from, to, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

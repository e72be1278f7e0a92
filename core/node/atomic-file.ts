import { constants, existsSync, readFileSync } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { errorCode, explainFileError } from './file-error.ts';
import { flushFolder, makeFolder } from './make-folder.ts';
import { z } from 'zod';

/**
 * Ending of temporary files. They are never part of a run, and {@link removeAsides} removes those of killed processes.
 */
export const ASIDE_ENDING = '.tmp';

/** Ending of a deleted folder on a disk without a trash. It is removed a few seconds later. */
export const DELETED_ENDING = '.deleted';

let asideCount = 0;

/**
 * Replaces a file as a whole: writes a temporary file, flushes it and renames it. Readers find the old content or the
 * new, never a part of it, also after a power cut. Of two concurrent writers the later rename wins.
 * @throws FileError when the disk or the permissions forbid it; the old file is then untouched
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  const replace = (aside: string): Promise<void> => renameOver(aside, path);
  await viaAside(path, (handle) => handle.writeFile(content), replace, timesWritten);
}

/** Like {@link writeFileAtomic}, for content that `fill` writes piece by piece. */
export async function replaceFile(path: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
  await viaAside(path, fill, (aside) => renameOver(aside, path));
}

/**
 * Creates a file that must not exist yet. Of several concurrent processes exactly one succeeds, and no reader sees half
 * a file.
 * @returns false when it exists already
 */
export async function createFileExclusively(path: string, content: string): Promise<boolean> {
  let created = true;
  await viaAside(
    path,
    (handle) => handle.writeFile(content),
    async (aside) => {
      created = await linkExclusively(aside, path);
      await rm(aside, { force: true });
    },
    timesWritten,
  );
  return created;
}

/**
 * Like {@link writeFileAtomic}, for a path that only one process writes: the temporary file is always `<path>.tmp`, so
 * that the next write replaces what a killed process left there. Creates missing folders.
 */
export async function writeFileAsOnlyWriter(path: string, content: Uint8Array | string): Promise<void> {
  const aside = `${path}${ASIDE_ENDING}`;
  await writeFlushed(aside, content);
  await renameFlushed(aside, path);
}

/**
 * Writes a file and flushes it and its name to the disk; creates missing folders. Not atomic: a crash leaves a part of
 * the file, an error leaves nothing.
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

/**
 * Windows does not replace a file that another process has open, such as a reader of Tutti or a virus scanner. Both
 * soon close it.
 */
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

/** How often a file is written whose temporary file another process removes, which took it for that of a killed one. */
const timesWritten = 3;

/** @param times at most; more than one where `fill` can be called again */
async function viaAside(
  path: string,
  fill: (handle: FileHandle) => Promise<void>,
  publish: (aside: string) => Promise<void>,
  times = 1,
): Promise<void> {
  asideCount += 1;
  const aside = `${path}.${process.pid}-${asideCount}${ASIDE_ENDING}`;
  let isWritten = false;
  try {
    await writeDurably(aside, 'wx', fill);
    isWritten = true;
    await publish(aside);
    await flushFolder(dirname(path));
  } catch (error) {
    const isTaken = isWritten && errorCode(error) === 'ENOENT' && existsSync(dirname(path));
    if (isTaken && times > 1) return viaAside(path, fill, publish, times - 1);
    await removePartial(aside);
    throw explainFileError(error, path, 'write');
  }
}

export interface AsidesToRemove {
  /** Also in the folders in it. */
  isDeep?: boolean;
  /** Only those that were written at least so long ago. */
  ageMs?: number;
  /**
   * Only those of processes that this machine does not have now, and those that are an hour old: where other processes
   * may be writing.
   */
  isShared?: boolean;
}

const sharedAgeMs = 3_600_000;

/**
 * Removes the temporary files that killed processes left in a folder. Where another process is about to rename one,
 * {@link writeFileAtomic} writes it again. What cannot be read or removed stays.
 */
export async function removeAsides(folder: string, which: AsidesToRemove = {}): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (asideEndings.some((ending) => entry.name.endsWith(ending))) {
      if (await isLeft(path, which)) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    } else if (which.isDeep === true && entry.isDirectory()) await removeAsides(path, which);
  }
}

/** A probe of locks (`file-lock.ts`) lies beside the lock only for a moment. */
const asideEndings = [ASIDE_ENDING, '.probe'];

async function isLeft(path: string, { ageMs = 0, isShared = false }: AsidesToRemove): Promise<boolean> {
  const ownAgeMs = Date.now() - ((await lstat(path).catch(() => null))?.mtimeMs ?? Infinity);
  const pid = Number(/\.(\d+)(-\d+)?\.tmp$/.exec(path)?.[1] ?? NaN);
  if (!isShared) return ageMs === 0 || ownAgeMs >= ageMs;
  return ownAgeMs >= sharedAgeMs || (pid > 0 && !isThere(pid));
}

/** Whether this machine, or this container, has the process. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
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

/**
 * Gives a file a second name, or copies it where the file system has no second names.
 * @returns false when the name is taken
 */
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

/**
 * The `build.json` that `tutti setup` writes beside a backend's libraries; null where the backend is not set up.
 * @param remedy the sentence that says how to set the backend up again
 * @throws Error naming the file, what is wrong with it, and the remedy
 */
export function readBuildFile<Build>(folder: string, schema: z.ZodType<Build>, remedy: string): Build | null {
  const file = join(folder, 'build.json');
  const text = readIfPresent(file);
  if (text === null) return null;
  const damaged = (finding: string, cause: unknown): Error =>
    new Error(`${file} is damaged: ${finding}. ${remedy}`, { cause });
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged(`it is not JSON (${error.message})`, error);
    if (error instanceof z.ZodError) throw damaged(z.prettifyError(error).replaceAll(/\s+/g, ' '), error);
    throw error;
  }
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, file, 'read');
  }
}

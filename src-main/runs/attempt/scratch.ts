import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'tutti-';
/** Space that decoded data may need. The folder is in memory if that much is free there, else on disk. */
const wantedBytes = 2 ** 30;

/**
 * Creates the owner-only folder for files that last as long as a run: its socket, and the data that its ranks share. The folder is in
 * memory (`/dev/shm`) if there is space. Also removes folders of dead hubs.
 */
export async function createScratchFolder(): Promise<string> {
  const parent = (await hasRoom('/dev/shm')) ? '/dev/shm' : tmpdir();
  await removeAbandoned(parent);
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= wantedBytes;
  } catch {
    return false; // No such folder: not Linux.
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    // Another user's folder cannot be removed, and another hub may be removing this one now.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { statfsSync, writeSync } from 'node:fs';

const zeros = new Uint8Array(2 ** 20);

/**
 * Makes a file in memory longer, if `folder`, where it lies, has room for it and as much again. What is added is written, as a file that is only
 * long takes its memory when it may be gone. Gives whether there was room.
 */
export function growFile(file: number, folder: string, fromBytes: number, toBytes: number): boolean {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * (toBytes - fromBytes)) return false;
  try {
    for (let end = fromBytes; end < toBytes;) {
      end += writeSync(file, zeros, 0, Math.min(zeros.length, toBytes - end), end);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What happens to a file. @returns false where it makes no sense for this file */
type Damage = (path: string) => boolean;

function changeBytes(change: (bytes: Buffer) => Buffer): Damage {
  return (path) => {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return false;
    rmSync(path);
    writeFileSync(path, change(bytes));
    return true;
  };
}

function replace(plant: (path: string) => void): Damage {
  return (path) => {
    rmSync(path);
    plant(path);
    return true;
  };
}

/** A file of this user that no run has anything to do with. */
export const secret = 'a line of a private file';

export const damages: Record<string, Damage> = {
  cut: changeBytes((bytes) => bytes.subarray(0, bytes.length >> 1)),
  emptied: changeBytes(() => Buffer.alloc(0)),
  flipped: changeBytes((bytes) => {
    const flipped = Buffer.from(bytes);
    flipped[flipped.length >> 1] ^= 0x10;
    return flipped;
  }),
  zeros: changeBytes((bytes) => Buffer.alloc(bytes.length)),
  'other type': changeBytes(() => Buffer.from('["another", "type"]\n')),
  'unknown key': (path) => {
    if (!path.endsWith('.json')) return false;
    const value = JSON.parse(readFileSync(path, 'utf8')) as object;
    rmSync(path);
    writeFileSync(path, JSON.stringify({ ...value, ofAnotherVersion: 1 }, null, 2));
    return true;
  },
  link: replace((path) => {
    const outside = join(tmpdir(), `tutti-private-${process.pid}`);
    writeFileSync(outside, `${secret}\n`);
    symlinkSync(outside, path);
  }),
  pipe: replace((path) => void execFileSync('mkfifo', [path])),
  folder: replace((path) => mkdirSync(path)),
  unreadable: (path) => {
    // Root may read everything.
    if (process.getuid?.() === 0) return false;
    chmodSync(path, 0);
    return true;
  },
  missing: replace(() => undefined),
};

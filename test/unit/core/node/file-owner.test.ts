import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notRoot, notRun } from '../../../environment/reasons.ts';
import { whyChangeable, whyNotLoad, refuseLibrary } from '../../../../core/node/file-owner.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-owner-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function library(...folders: string[]): string {
  const folder = join(root, ...folders);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'lib.so');
  writeFileSync(path, '');
  return path;
}

describe('a library on disk', () => {
  it('may be loaded if only this user and root can change it, also below /tmp with its sticky bit', () => {
    expect(whyNotLoad(library('mine'))).toBeNull();
  });

  it('is refused if others may write to it, to its folder or to a folder above', () => {
    const path = library('a', 'b');
    chmodSync(path, 0o666);
    expect(whyNotLoad(path)).toBe('it can be written by every user of this machine');
    chmodSync(path, 0o644);
    chmodSync(join(root, 'a'), 0o777);
    expect(whyNotLoad(path)).toBe(`${join(root, 'a')} can be written by every user of this machine`);
  });

  it('is judged by the file that a link leads to', () => {
    const path = library('a');
    symlinkSync(path, join(root, 'link.so'));
    expect(whyNotLoad(join(root, 'link.so'))).toBeNull();
    chmodSync(path, 0o666);
    expect(whyNotLoad(join(root, 'link.so'))).toBe(`${path} can be written by every user of this machine`);
  });

  it.skipIf(notRoot !== null)(`of another user is refused${notRun(notRoot)}`, () => {
    const path = library('a');
    chownSync(join(root, 'a'), 4001, 0);
    expect(whyNotLoad(path)).toBe(`${join(root, 'a')} belongs to another user (uid 4001)`);
  });

  it('that does not exist is no danger', () => {
    expect(refuseLibrary(join(root, 'absent.so'))).toBeNull();
  });
});

/**
 * Of the other users of this machine, can one write a file with these bits? The definition of POSIX, one user at a
 * time.
 */
function someoneElseCanWrite(file: { uid: number; gid: number; mode: number }, users: readonly number[]): boolean {
  return users.some((user) => {
    if (user === file.uid) return true; // An owner can always give the right to himself.
    // User ids and the ids of their private groups agree.
    return user === file.gid ? (file.mode & 0o020) !== 0 : (file.mode & 0o002) !== 0;
  });
}

it('is accepted exactly if no other user can write it (fast-check, seed 11)', () => {
  const me = 1000;
  const ids = fc.constantFrom(0, me, 1001, 1002);
  const files = fc.record({
    uid: ids,
    gid: ids,
    mode: fc.integer({ min: 0, max: 0o777 }).map((bits) => 0o100000 | bits),
  });
  fc.assert(
    fc.property(files, (file) => {
      const isRefused = whyChangeable(file, { uid: me, gid: me, trustedGroups: [0] }) !== null;
      expect(isRefused).toBe(someoneElseCanWrite(file, [1001, 1002]));
    }),
    { seed: 11, numRuns: 2000 },
  );
});

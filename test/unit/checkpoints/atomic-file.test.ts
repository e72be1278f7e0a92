import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainWriteError, writeFileAtomically } from '../../../workers/checkpoints/atomic-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-atomic-'));
});
afterEach(() => rm(folder, { recursive: true }));

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made for the test`), { code });
}

describe('writeFileAtomically', () => {
  it('makes missing folders, replaces what is there, and leaves nothing else', async () => {
    const path = join(folder, 'a', 'b', 'file.bin');
    await writeFileAtomically(path, new Uint8Array([1, 2, 3]));
    await writeFileAtomically(path, 'zwölf');
    expect(await readFile(path, 'utf8')).toBe('zwölf');
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['file.bin']);
  });

  it('writes over what a killed process left aside', async () => {
    const path = join(folder, 'file.bin');
    await writeFile(`${path}.tmp`, 'half a fi');
    await writeFileAtomically(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['file.bin']);
  });

  it('names the file in the way where a folder is needed', async () => {
    await writeFile(join(folder, 'a'), '');
    await expect(writeFileAtomically(join(folder, 'a', 'file.bin'), 'x')).rejects.toThrow(
      /Cannot write .*file\.bin\.tmp: a part of .*a is a file where a folder is needed/,
    );
  });

  // A symbolic link to /dev/full gives a real ENOSPC, without a full disk.
  it.skipIf(!existsSync('/dev/full'))('keeps the old file on a full disk (needs /dev/full)', async () => {
    const path = join(folder, 'file.bin');
    await writeFileAtomically(path, 'old');
    await symlink('/dev/full', `${path}.tmp`);
    const failed = writeFileAtomically(path, new Uint8Array(4096));
    await expect(failed).rejects.toThrow(/the disk is full, and the file needs 4096 bytes\. Free some space/);
    await expect(failed).rejects.toHaveProperty('cause.code', 'ENOSPC');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['file.bin']);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'names the folder that may not be written (skipped for root, who may)',
    async () => {
      const locked = join(folder, 'locked');
      await mkdir(locked);
      await chmod(locked, 0o555);
      await expect(writeFileAtomically(join(locked, 'file.bin'), 'x')).rejects.toThrow(
        /no permission\. Give this user write permission for .*locked/,
      );
    },
  );
});

describe('explainWriteError', () => {
  const cases: [code: string, message: string][] = [
    ['ENOSPC', 'Cannot write /runs/a.bin: the disk is full, and the file needs 12 bytes.'],
    ['EDQUOT', 'Cannot write /runs/a.bin: the disk quota is used up, and the file needs 12 bytes.'],
    ['EACCES', 'Cannot write /runs/a.bin (12 bytes): no permission. Give this user write permission for /runs,'],
    ['EPERM', 'Cannot write /runs/a.bin (12 bytes): no permission.'],
    ['EROFS', 'Cannot write /runs/a.bin (12 bytes): its disk is mounted read-only. Mount it writable,'],
    ['EIO', 'Cannot write /runs/a.bin (12 bytes): EIO: made for the test.'],
  ];
  it.each(cases)('%s', (code, message) => {
    expect(explainWriteError(systemError(code), '/runs/a.bin', 12)).toContain(message);
  });
});

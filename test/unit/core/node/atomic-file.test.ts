import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createFileExclusively,
  removeAsides,
  replaceFile,
  writeFileAsOnlyWriter,
  writeFileAtomic,
} from '../../../../core/node/atomic-file.ts';
import { FileError, explainFileError } from '../../../../core/node/file-error.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { noFullDevice, noPermissions, notRun } from '../../../environment/reasons.ts';

describe('writeFileAtomic', () => {
  it('replaces the content and leaves no other file', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'run.json');
    await writeFileAtomic(path, 'old');
    await writeFileAtomic(path, new TextEncoder().encode('new'));
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['run.json']);
  });

  it('leaves the old content and no other file when writing fails half way', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'run.json');
    await writeFileAtomic(path, 'old');
    const failing = replaceFile(path, async (handle) => {
      await handle.writeFile('half');
      throw new Error('torn');
    });
    await expect(failing).rejects.toThrow('torn');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['run.json']);
  });

  it('names path, rule and remedy when the folder does not exist', async () => {
    const path = join(await temporaryFolder(), 'gone', 'run.json');
    const failing = writeFileAtomic(path, 'x');
    await expect(failing).rejects.toThrow(FileError);
    await expect(failing).rejects.toThrow(
      `Cannot write ${path}: it, or a folder on the way to it, does not exist (ENOENT)`,
    );
  });

  it('reports that the path is a folder', async () => {
    const path = join(await temporaryFolder(), 'run.json');
    await mkdir(join(path, 'inside'), { recursive: true });
    await expect(writeFileAtomic(path, 'x')).rejects.toThrow(/a folder has this name \(EISDIR\)/);
  });

  it.skipIf(noPermissions !== null)(`names the permission${notRun(noPermissions)}`, async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o500);
    await expect(writeFileAtomic(join(folder, 'run.json'), 'x')).rejects.toThrow(/this user may not \(EACCES\)/);
    await chmod(folder, 0o700);
  });

  it.skipIf(noFullDevice !== null)(`explains a full disk, simulated by /dev/full${notRun(noFullDevice)}`, async () => {
    const path = join(await temporaryFolder(), 'full');
    await symlink('/dev/full', path);
    const error = explainFileError(await writeFile(path, 'x').catch((error: unknown) => error), path, 'write');
    expect(error).toMatchObject({ code: 'ENOSPC', path });
    expect(String(error)).toContain('the disk is full (ENOSPC). Free some space there');
  });
});

describe('writeFileAsOnlyWriter', () => {
  it('creates missing folders, replaces existing content, and leaves nothing else', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'a', 'b', 'file.bin');
    await writeFileAsOnlyWriter(path, new Uint8Array([1, 2, 3]));
    await writeFileAsOnlyWriter(path, 'zwölf');
    expect(await readFile(path, 'utf8')).toBe('zwölf');
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['file.bin']);
  });

  it('replaces the temporary file of a killed process', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'file.bin');
    await writeFile(`${path}.tmp`, 'half a fi');
    await writeFileAsOnlyWriter(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['file.bin']);
  });

  it('names the path if a file is in place of a folder', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'a'), '');
    const message = /Cannot write .*file\.bin\.tmp: a part of the path is a file, not a folder \(ENOTDIR\)/;
    await expect(writeFileAsOnlyWriter(join(folder, 'a', 'file.bin'), 'x')).rejects.toThrow(message);
    await expect(writeFileAsOnlyWriter(join(folder, 'a', 'b', 'file.bin'), 'x')).rejects.toThrow(message);
  });

  // A symbolic link to /dev/full gives a real ENOSPC, without a full disk.
  it.skipIf(noFullDevice !== null)(`keeps the old file on a full disk${notRun(noFullDevice)}`, async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'file.bin');
    await writeFileAsOnlyWriter(path, 'old');
    await symlink('/dev/full', `${path}.tmp`);
    const failed = writeFileAsOnlyWriter(path, new Uint8Array(4096));
    await expect(failed).rejects.toThrow(
      /the disk is full \(ENOSPC\), and the file needs 4096 bytes\. Free some space/,
    );
    await expect(failed).rejects.toHaveProperty('cause.code', 'ENOSPC');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['file.bin']);
  });
});

describe('explainFileError', () => {
  it.each([
    ['EACCES', 'Change the permissions'],
    ['EROFS', 'read-only'],
    ['EMFILE', 'ulimit -n'],
    ['EDQUOT', 'quota'],
  ])('%s has a remedy', (code, remedy) => {
    const error = explainFileError(Object.assign(new Error(code), { code }), '/runs/a', 'write');
    expect(String(error)).toContain('Cannot write /runs/a: ');
    expect(String(error)).toContain(`(${code})`);
    expect(String(error)).toContain(remedy);
  });

  it('names path and bytes of a system error without a remedy', () => {
    const error = Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
    const explained = explainFileError(error, '/runs/a.bin', 'write', 12);
    expect(explained).toMatchObject({ code: 'EIO', path: '/runs/a.bin', cause: error });
    expect(String(explained)).toContain(
      'Cannot write /runs/a.bin: EIO: i/o error, write, and the file needs 12 bytes.',
    );
  });

  it('rethrows other errors', () => {
    const error = new Error('other');
    expect(explainFileError(error, '/runs/a', 'write')).toBe(error);
  });
});

describe('createFileExclusively', () => {
  it('lets exactly one of many writers succeed, with its whole content', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'run.json');
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, writer) => createFileExclusively(path, `writer ${writer}`)),
    );
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await readFile(path, 'utf8')).toBe(`writer ${created.indexOf(true)}`);
    expect(await readdir(folder)).toEqual(['run.json']);
  });
});

describe('removeAsides', () => {
  /** @param ageMs of the file */
  async function write(path: string, ageMs = 0): Promise<void> {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, '');
    const at = new Date(Date.now() - ageMs);
    await utimes(path, at, at);
  }

  it('removes what killed processes left, and nothing else', async () => {
    const folder = await temporaryFolder();
    const kept = ['run.json', 'metrics.csv', 'notes.tmp.md', 'state/round-1.json'];
    const left = ['run.json.4711-3.tmp', 'notes.json.tmp', 'source.tmp/project.ts', '.1f.probe'];
    for (const name of [...kept, ...left, 'state/round-1.json.tmp']) await write(join(folder, name));
    await removeAsides(folder);
    expect((await readdir(folder)).toSorted()).toEqual(['metrics.csv', 'notes.tmp.md', 'run.json', 'state']);
    expect(await readdir(join(folder, 'state'))).toEqual(['round-1.json', 'round-1.json.tmp']);
    await removeAsides(folder, { isDeep: true });
    expect(await readdir(join(folder, 'state'))).toEqual(['round-1.json']);
  });

  it('leaves younger ones, which a process may be writing, and does not follow links', async () => {
    const folder = await temporaryFolder();
    const elsewhere = await temporaryFolder();
    await write(join(elsewhere, 'other.tmp'), 60_000);
    await symlink(elsewhere, join(folder, 'link'));
    await write(join(folder, 'old.tmp'), 60_000);
    await write(join(folder, 'young.tmp'));
    await removeAsides(folder, { isDeep: true, ageMs: 10_000 });
    expect((await readdir(folder)).toSorted()).toEqual(['link', 'young.tmp']);
    expect(await readdir(elsewhere)).toEqual(['other.tmp']);
  });

  it('removes in a shared folder those of processes that are gone, and those that are an hour old', async () => {
    const folder = await temporaryFolder();
    const { pid: gone } = spawnSync(process.execPath, ['-e', '']);
    await write(join(folder, `queue.json.${gone}-1.tmp`));
    await write(join(folder, `queue.json.${process.pid}-1.tmp`));
    await write(join(folder, `trusted.json.${process.pid}-2.tmp`), 3_700_000);
    await write(join(folder, 'pool.json.tmp'));
    await removeAsides(folder, { isShared: true });
    expect((await readdir(folder)).toSorted()).toEqual(['pool.json.tmp', `queue.json.${process.pid}-1.tmp`]);
  });

  it('disturbs no process that writes: it writes again', async () => {
    const folder = await temporaryFolder();
    for (let value = 0; value < 30; value++) {
      const state = { isWritten: false };
      const writing = writeFileAtomic(join(folder, 'queue.json'), String(value)).finally(
        () => (state.isWritten = true),
      );
      while (!state.isWritten && !(await readdir(folder)).some((name) => name.endsWith('.tmp')));
      await removeAsides(folder);
      await writing;
      expect(await readFile(join(folder, 'queue.json'), 'utf8')).toBe(String(value));
    }
    expect(await readdir(folder)).toEqual(['queue.json']);
  });

  it('says nothing where there is no folder', async () => {
    await expect(removeAsides(join(await temporaryFolder(), 'gone'))).resolves.toBeUndefined();
  });
});

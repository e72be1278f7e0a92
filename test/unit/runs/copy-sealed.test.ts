import { hash } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copySealed, type SealedRecord } from '../../../src-main/runs/fork/copy-run.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const parse = (text: string): SealedRecord => JSON.parse(text) as SealedRecord;

async function sealedIn(
  content: string,
): Promise<{ folder: string; to: { folder: string; path: string }; target: string }> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'state'));
  await writeFile(join(folder, 'state/a.safetensors'), content);
  await writeFile(join(folder, 'state/a.json'), JSON.stringify({ sha256: hash('sha256', 'whole'), bytes: 5 }));
  const to = { folder, path: 'copy/a' };
  return { folder, to, target: join(folder, 'copy/a') };
}

describe('copySealed', () => {
  it('copies the data that match the record, also under the name of an unfinished replacement', async () => {
    const { folder, to, target } = await sealedIn('older');
    await writeFile(join(folder, 'state/a.safetensors.next'), 'whole');
    await copySealed(folder, 'state/a', to, parse, () => 'changed');
    expect(await readFile(`${target}.safetensors`, 'utf8')).toBe('whole');
    expect(await readFile(`${target}.json`, 'utf8')).toBe('changed');
  });

  it('refuses damaged data, and a link to a file elsewhere', async () => {
    const { folder, to, target } = await sealedIn('wrong');
    await expect(copySealed(folder, 'state/a', to, parse, String)).rejects.toThrow('Fork from another point.');
    await expect(readFile(`${target}.safetensors`)).rejects.toThrow('ENOENT');
    await symlink(join(folder, 'state/a.json'), join(folder, 'state/b.json'));
    await expect(copySealed(folder, 'state/b', to, parse, String)).rejects.toThrow('it is a symbolic link');
  });
});

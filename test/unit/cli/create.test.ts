import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { create } from '../../../src-main/cli/commands/data.ts';
import { templates } from '../../../src-main/creation/write-project.ts';
import { trustOf } from '../../../src-main/trust/project-trust.ts';

/** A folder outside of those that the tests' environment trusts, and a home. */
async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-create-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.stubEnv('TUTTI_HOME', join(folder, 'home'));
  vi.stubEnv('TUTTI_TRUST', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  return folder;
}

describe('tutti create', () => {
  it('has the templates of the documentation', () => {
    expect(templates().sort()).toEqual(['blank', 'images', 'tabular', 'text']);
  });

  it('writes project, types, manifest and readme into a folder that it trusts', async () => {
    const folder = join(await emptyFolder(), 'deep', 'My Ensemble!');
    expect(await create(folder, { template: 'tabular', target: [], column: [] })).toBe(0);
    expect((await readdir(folder)).sort()).toEqual([
      'README.md',
      'package.json',
      'plants.csv',
      'project.ts',
      'tsconfig.json',
    ]);
    expect(trustOf(folder).by).not.toBeNull();
    const made = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as typeof manifest;
    expect(made.name).toBe('my-ensemble');
    // A name at the registry, which is not ours, is never asked for.
    expect(Object.values(made.dependencies)).toEqual([expect.stringMatching(/^file:/)]);
  });

  it('takes the versions of its tools from this repository', async () => {
    const folder = await emptyFolder();
    await create(join(folder, 'p'), { template: 'blank', target: [], column: [] });
    const { devDependencies } = JSON.parse(
      await readFile(join(folder, 'p', 'package.json'), 'utf8'),
    ) as typeof manifest;
    expect(Object.keys(devDependencies)).not.toHaveLength(0);
    expect(manifest.devDependencies).toMatchObject(devDependencies);
  });

  it('refuses a folder with files, a file, and a template that does not exist', async () => {
    const folder = await emptyFolder();
    await writeFile(join(folder, 'mine.txt'), 'mine');
    await expect(create(folder, { template: 'blank', target: [], column: [] })).rejects.toThrow(
      'holds files, such as mine.txt',
    );
    await expect(create(join(folder, 'mine.txt'), { template: 'blank', target: [], column: [] })).rejects.toThrow(
      'mine.txt is a file',
    );
    await expect(create(join(folder, 'new'), { template: 'image', target: [], column: [] })).rejects.toThrow(
      'Did you mean images?',
    );
    expect(await readdir(folder)).toEqual(['mine.txt']);
  });
});

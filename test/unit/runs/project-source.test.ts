import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { codeOfRun, noteTrained } from '../../../src-main/runs/configuration/kept-code.ts';
import { keepSource } from '../../../src-main/runs/recording/kept-source.ts';
import { describeSourceChange } from '../../../src-main/runs/configuration/project.ts';
import { hashProjectSource } from '../../../src-main/runs/configuration/project-source.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

async function project(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'parts'));
  await writeFile(join(folder, 'project.ts'), 'export default 1;');
  await writeFile(join(folder, 'parts', 'layers.mjs'), 'export const a = 1;');
  return folder;
}

it('the hash of a source changes only with its scripts, wherever they lie in the folder', async () => {
  const folder = await project();
  const before = await hashProjectSource(folder);
  expect(before).toBe(await hashProjectSource(await project()));
  for (const name of ['node_modules', '.cache', 'run']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'node_modules', 'index.js'), '');
  await writeFile(join(folder, '.cache', 'project.js'), '');
  await writeFile(join(folder, 'run', 'run.json'), '{}');
  await writeFile(join(folder, 'run', 'copy.ts'), '');
  await writeFile(join(folder, 'data.csv'), '1,2');
  expect(await hashProjectSource(folder)).toBe(before);
  await writeFile(join(folder, 'parts', 'layers.mjs'), 'export const a = 2;');
  expect(await hashProjectSource(folder)).not.toBe(before);
});

it('a run knows whether the source is the one it trained with', async () => {
  const folder = await project();
  const sourceHash = await hashProjectSource(folder);
  const attempt = { attempt: 1, startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'finished' as const };
  const about = { name: 'wine', description: '', folder };
  const change = (hashes: (string | null | undefined)[]) => {
    const attempts = hashes.map((hash) => (hash === undefined ? attempt : { ...attempt, sourceHash: hash }));
    return describeSourceChange(runRecord({ project: about, attempts }));
  };
  expect(await change([sourceHash])).toBeNull();
  expect(await change([sourceHash, 'b'.repeat(64)])).toContain('has changed since the run trained:');
  expect(await change([undefined, sourceHash])).toContain(
    'may have changed since the run trained, which did not record it',
  );
  await rm(folder, { recursive: true });
  expect(await change([sourceHash])).toContain(`${folder} is gone`);
});

it("a run's own copy of the code is used only if this user trained with exactly that", async () => {
  const home = await temporaryFolder();
  vi.stubEnv('TUTTI_HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = await project();
  const run = await temporaryFolder();
  const sourceHash = await hashProjectSource(folder);
  await noteTrained((await keepSource(run, folder, null)) ?? '');
  const attempt = { attempt: 1, startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'finished' as const };
  const record = runRecord({
    project: { name: 'wine', description: '', folder },
    attempts: [{ ...attempt, sourceHash }],
  });
  expect(await codeOfRun(run, record)).toEqual({ sourceFolder: null, sourceChange: null });
  await writeFile(join(folder, 'project.ts'), 'export default 2;');
  const copy = join(run, 'sources', sourceHash ?? '');
  expect(await codeOfRun(run, record)).toEqual({
    sourceFolder: copy,
    sourceChange: expect.stringContaining('The code that the run kept is used.'),
  });
  await writeFile(join(home, 'trained-sources.txt'), '');
  expect((await codeOfRun(run, record)).sourceFolder).toBeNull();
  await writeFile(join(home, 'trained-sources.txt'), `${sourceHash}\n`);
  await writeFile(join(copy, 'project.ts'), 'export default 3;');
  expect((await codeOfRun(run, record)).sourceFolder).toBeNull();
});

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { examplesFolder, findProject, provideExamples } from '../../../src-main/trust/examples.ts';

const inRepository = join(import.meta.dirname, '../../..', 'examples');

it('are those of the app', async () => {
  expect(examplesFolder({})).toBe(inRepository);
  await provideExamples({});
});

it('are copied into the home where the app is an AppImage, once for each version', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tutti-examples-'));
  vi.stubEnv('TUTTI_HOME', home);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    return rm(home, { recursive: true });
  });
  const mounted = { APPIMAGE: '/opt/Tutti.AppImage' };
  const folder = examplesFolder(mounted);
  expect(folder).toBe(join(home, 'examples', packageJson.version));
  await provideExamples(mounted);
  expect(await readdir(folder)).toEqual(await readdir(inRepository));
  const project = join(folder, '00_heteroscedastic_regression', 'project.ts');
  expect(await readFile(project, 'utf8')).toBe(
    await readFile(join(inRepository, '00_heteroscedastic_regression', 'project.ts'), 'utf8'),
  );
  await writeFile(project, 'changed by the user');
  await provideExamples(mounted);
  expect(await readFile(project, 'utf8')).toBe('changed by the user');
  expect(await readdir(join(home, 'examples'))).toEqual([packageJson.version]);
});

it('are meant by their names where the current folder has no folder of that name, which a note says', async () => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'tutti-elsewhere-'));
  const repository = process.cwd();
  process.chdir(elsewhere);
  onTestFinished(() => {
    process.chdir(repository);
    return rm(elsewhere, { recursive: true });
  });
  const notes: string[] = [];
  const find = (folder: string): string => findProject(folder, (note) => notes.push(note));
  expect(find('examples/digits')).toBe(join(inRepository, 'digits'));
  expect(find('examples/digits/')).toBe(join(inRepository, 'digits'));
  expect(notes).toEqual(Array(2).fill(expect.stringContaining(join(inRepository, 'digits'))));
  // Nothing else is replaced: other folders, absent examples, and what the user has.
  await mkdir(join(elsewhere, 'examples', '06_hdet'), { recursive: true });
  const others = ['digits', 'examples', 'examples/absent', 'examples/..', 'mine/examples/digits', 'examples/06_hdet'];
  expect(others.map(find)).toEqual(others);
  expect(notes).toHaveLength(2);
});

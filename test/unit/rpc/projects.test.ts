import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Projects } from '../../../src-main/rpc/projects/projects.ts';
import { homePaths } from '../../../src-main/store/home.ts';
import { openService } from './page.ts';
import { writeTinyProject } from './tiny-project.ts';

async function openTinyProject() {
  const opened = await openService();
  return { ...opened, folder: await writeTinyProject(opened.home) };
}

describe('projects', () => {
  it('include the examples, then the opened ones until they are removed', async () => {
    const { page, folder } = await openTinyProject();
    const examples = await page.hub.projects();
    expect(examples.every(({ isExample, isDescribed }) => isExample && !isDescribed)).toBe(true);
    expect(examples[0]).toMatchObject({ name: '00_heteroscedastic_regression', description: '', error: null });
    const described = await page.hub.projectCard(examples[0].folder);
    expect(described).toMatchObject({ name: 'Heteroscedastic regression', isDescribed: true, isExample: true });
    expect((await page.hub.projects())[0]).toEqual(described);
    expect(await page.hub.openPath(folder)).toMatchObject({
      kind: 'project',
      project: { name: 'Blobs', task: 'classification', lastRun: null },
    });
    expect((await page.hub.projects()).slice(examples.length)).toMatchObject([{ folder, isExample: false }]);
    await page.hub.forgetProject(folder);
    expect(await page.hub.projects()).toHaveLength(examples.length);
  }, 30_000);

  it('are listed once the file of their titles can be read, although it could not before', async () => {
    const { page } = await openTinyProject();
    // In the file's place, where it cannot be read.
    await mkdir(homePaths().projectTitles, { recursive: true });
    await expect(page.hub.projects()).rejects.toThrow(homePaths().projectTitles);
    await rm(homePaths().projectTitles, { recursive: true });
    expect(await page.hub.projects()).not.toEqual([]);
  });

  it('report why they cannot be loaded, on their card or when they are opened', async () => {
    const { page, folder, home } = await openTinyProject();
    await expect(page.hub.openPath(join(home, 'absent'))).rejects.toThrow('does not exist');
    await mkdir(join(home, 'empty'));
    await expect(page.hub.openPath(join(home, 'empty'))).rejects.toThrow('must hold a project.ts');
    await page.hub.openPath(folder);
    await writeFile(join(folder, 'project.ts'), 'throw new Error("Out of paint.");');
    // One second later, to exceed any file system's time resolution.
    await utimes(join(folder, 'project.ts'), new Date(), new Date(Date.now() + 1000));
    const why = expect.stringContaining('Out of paint.');
    expect(await page.hub.projectCard(folder)).toMatchObject({ folder, name: 'blobs', isDescribed: true, error: why });
    expect((await page.hub.projects()).at(-1)).toMatchObject({ folder, error: why });
  }, 30_000);

  it('are asked again after a failure, although no file has changed: the machine may have been too busy', async () => {
    const { page, folder } = await openTinyProject();
    await page.hub.openPath(folder);
    await writeFile(
      join(folder, 'project.ts'),
      `import './state.json' with { type: 'json' };\n${await readFile(join(folder, 'project.ts'), 'utf8')}`,
    );
    await utimes(join(folder, 'project.ts'), new Date(), new Date(Date.now() + 1000));
    expect(await page.hub.projectCard(folder)).toMatchObject({ error: expect.stringContaining('state.json') });
    await writeFile(join(folder, 'state.json'), '{}');
    expect(await page.hub.projectCard(folder)).toMatchObject({ name: 'Blobs', error: null });
  }, 30_000);

  it('report an unreadable folder in the list, without affecting the others', async () => {
    const { page, folder } = await openTinyProject();
    await page.hub.openPath(folder);
    await rm(folder, { recursive: true });
    expect((await page.hub.projects()).at(-1)).toMatchObject({ folder, isDescribed: false, error: null });
    // Permissions do not stop root, but a file in place of the folder stops everyone.
    await writeFile(folder, 'no folder');
    const why =
      `Cannot open the project ${folder}: a part of the path is a file, not a folder ` +
      '(ENOTDIR). Choose another folder.';
    const cards = await page.hub.projects();
    expect(cards[0]).toMatchObject({ isExample: true, error: null });
    expect(cards.at(-1)).toMatchObject({ folder, isDescribed: true, error: why });
    expect(await page.hub.projectCard(folder)).toMatchObject({ folder, isDescribed: true, error: why });
  }, 30_000);

  it('describe their hyperparameters if the configuration has them', async () => {
    const { page, folder } = await openTinyProject();
    const { options, defaults } = await page.hub.describeProject(folder);
    const paths = options.map(({ path }) => path);
    expect(paths).toContain('members');
    expect(paths).toContain('hyperparameters.width');
    expect(paths).not.toContain('hyperparameters');
    expect(defaults).toMatchObject({ maxEpochs: 3, batchSize: 16, hyperparameters: { width: 8 } });
  });
});

describe('previews', () => {
  it('return plan, devices and a command line with only the differences', async () => {
    const { page, folder } = await openTinyProject();
    const overrides = {
      members: 3,
      maxEpochs: 3,
      optimizer: { kind: 'sgd', momentum: 0.9 },
      earlyStopping: { enabled: true },
      hyperparameters: { width: 16 },
    };
    const preview = await page.hub.previewRun({ projectFolder: folder, overrides, name: "Ada's run", out: '/runs/1' });
    expect(preview.problems).toEqual([]);
    expect(preview.plan.map(({ rank }) => rank)).toEqual([0, 1, 2]);
    expect(preview).toMatchObject({ diskBytes: null, durationSeconds: null, config: { members: 3 } });
    expect(preview.devices.length).toBeGreaterThan(0);
    expect(preview.commandLine).toBe(
      `npx tutti train ${folder} --members 3 --optimizer sgd --optimizer.momentum 0.9 ` +
        `--early-stopping.enabled true --width 16 --name 'Ada'\\''s run' --out /runs/1`,
    );
  });

  it('require an absolute folder', async () => {
    const { page, folder } = await openTinyProject();
    const request = { projectFolder: folder, overrides: {}, name: null, out: 'runs/1' };
    const { config, problems } = await page.hub.previewRun(request);
    expect(config).toBeNull();
    expect(problems).toMatchObject([{ path: 'out' }]);
    expect(problems[0].message).toContain('The folder "runs/1" is not an absolute path');
  });

  it('name each invalid option, and start nothing', async () => {
    const { page, folder } = await openTinyProject();
    const problemsOf = async (overrides: Record<string, unknown>) => {
      const { config, problems } = await page.hub.previewRun({
        projectFolder: folder,
        overrides,
        name: null,
        out: null,
      });
      expect(config).toBeNull();
      return problems.map(({ path, message }) => [path, message]);
    };
    expect(await problemsOf({ members: 0, optimizer: { kind: 'sgd', momentum: 2 } })).toEqual([
      ['members', 'members is 0, but must be a whole number from 1 to 256. Leave it out for the default, 2.'],
      [
        'optimizer.momentum',
        'optimizer.momentum is 2, but must be a number of at least 0 and below 1. Leave it out for the default, 0.',
      ],
    ]);
    expect(await problemsOf({ hyperparameters: { width: 1.5, depth: 1 } })).toEqual([
      ['hyperparameters.depth', expect.stringContaining('It is not a hyperparameter of project "Blobs"')],
      [
        'hyperparameters.width',
        'width is 1.5, but must be a whole number of at least 1. Leave it out for the default, 8.',
      ],
    ]);
    expect(await problemsOf({ devices: 'gpu' })).toEqual([['devices', expect.stringContaining('gpu')]]);
    const joint = { enabled: true, joint: true, monitor: 'val/member_{rank}_nll' };
    expect(await problemsOf({ earlyStopping: joint, devices: [0], placement: 'waves' })).toEqual([
      ['earlyStopping.monitor', expect.stringContaining('differs from rank to rank')],
      ['earlyStopping.joint', expect.stringContaining('this plan has 2 waves')],
    ]);
    expect((await page.hub.runs({})).rows).toEqual([]);
  });
});

it('project descriptions are cached across restarts until the sources change', async () => {
  const { hub, page, folder, home } = await openTinyProject();
  await page.hub.openPath(folder);
  const cardAtNextStart = async () => (await new Projects(hub).list()).find((card) => card.folder === folder);
  expect(await cardAtNextStart()).toMatchObject({ name: 'Blobs', task: 'classification', isDescribed: true });
  const cache = join(home, 'home', 'cache', 'project-titles.json');
  const kept = await readFile(cache, 'utf8');
  await writeFile(cache, kept.slice(1));
  expect(await cardAtNextStart()).toMatchObject({ name: 'blobs', isDescribed: false });
  await writeFile(cache, kept);
  await utimes(join(folder, 'project.ts'), new Date(), new Date(Date.now() + 1000));
  expect(await cardAtNextStart()).toMatchObject({ name: 'blobs', isDescribed: false });
  await page.hub.projectCard(folder);
  expect(await cardAtNextStart()).toMatchObject({ name: 'Blobs', isDescribed: true });
  await page.hub.forgetProject(folder);
  expect(JSON.parse(await readFile(cache, 'utf8'))).toEqual({});
}, 30_000);

it('the list of projects is a human-readable file', async () => {
  const { page, folder, home } = await openTinyProject();
  await page.hub.openPath(folder);
  expect(JSON.parse(await readFile(join(home, 'home', 'projects.json'), 'utf8'))).toEqual([folder]);
});

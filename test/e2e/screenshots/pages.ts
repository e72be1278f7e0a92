import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { blobs, expectPoints, sine, startRun, visit } from '../stage.ts';
import { expect } from '../support/expect.ts';
import { importStudy } from '../support/import-study.ts';
import type { Camera, Shot } from './camera.ts';

/** The pages of which pictures are taken, and what is trained for them. */

const screen = join(import.meta.dirname, '..', '..', '..', 'examples', '04_hts_hit_finding');
/** Waits until a run has finished. */
const patience = { timeout: 180_000 };

export async function takePages(page: Page, camera: Camera): Promise<void> {
  for (const shot of emptyPages(page)) await camera.take(shot);
  const trained = await train(page, camera);
  const study = await importStudy(page, sine);
  const search = await startSearch(page);
  await expect(page.locator('.discovery-header .status')).toHaveText('finished', patience);
  const shots = [
    ...runPages(page, trained),
    ...listPages(page, trained),
    ...studyPages(page, study, search),
    ...otherPages(page),
    ...loadingPages(page, trained.run),
  ];
  const failures: unknown[] = [];
  for (const shot of shots)
    await camera
      .take(shot)
      .catch((error: unknown) => failures.push(new Error(`No pictures of ${shot.name}`, { cause: error })));
  if (failures.length > 0) throw new AggregateError(failures, 'Some pictures were not taken.');
}

interface Trained {
  run: string;
  first: string;
  regression: string;
  many: string;
  failed: string;
  pipelined: string;
}

async function train(page: Page, camera: Camera): Promise<Trained> {
  const regression = await startRun(page, sine, { members: 4, maxEpochs: 600, evaluateEveryEpochs: 30 }, 'sine');
  await expectEnd(page);
  const first = await startRun(page, blobs, { members: 2, maxEpochs: 60 }, 'blobs, 2 members');
  await expectEnd(page);
  const sixteen = { members: 16, membersPerDevice: 16, maxEpochs: 40 };
  const many = await startRun(page, blobs, sixteen, 'blobs, 16 members');
  await expectEnd(page);
  const diverging = { members: 2, maxEpochs: 20, optimizer: { kind: 'sgd', learningRate: 1e6 } };
  const failed = await startRun(page, blobs, diverging, 'blobs, too fast');
  await expectEnd(page, /failed|diverged|finished/);
  const stages = { members: 4, maxEpochs: 40, strategy: { kind: 'pipeline', stages: 2 } };
  const pipelined = await startRun(page, blobs, stages, 'blobs, 2 members in stages');
  await expectEnd(page);
  // Slow enough to improve for some time, and to train while all its pictures are taken.
  const slow = { optimizer: { kind: 'adam', learningRate: 0.0003 }, earlyStopping: { enabled: true, patience: 120 } };
  const run = await startRun(page, blobs, { members: 4, maxEpochs: 400, ...slow }, 'blobs, 4 members');
  const prepare = () => expect(page.locator('.run-header')).toContainText(/epoch [3-9]\d\//, patience);
  await camera.take({ name: 'run-live', address: `/runs/${run}/live`, prepare });
  await expectEnd(page);
  return { run, first, regression, many, failed, pipelined };
}

async function expectEnd(page: Page, status: string | RegExp = 'finished'): Promise<void> {
  await expect(page.locator('.run-header .status')).toHaveText(status, patience);
}

async function startSearch(page: Page): Promise<string> {
  await visit(page, `/new-search?project=${encodeURIComponent(screen)}`);
  const options = { members: '2', membersPerDevice: '2', maxEpochs: '2', devices: 'cpu:0' };
  for (const [index, [path, value]] of Object.entries(options).entries()) {
    const option = page.getByLabel(`Name of option ${index + 1}`);
    if ((await option.count()) === 0) await page.getByRole('button', { name: 'Add an option' }).click();
    await option.fill(path);
    await page.getByLabel(`Value of option ${index + 1}`).fill(value);
  }
  const fields = { 'Labels at the start': '40', 'Labels per round': '10', Rounds: '5', Name: 'Hits in the sample' };
  for (const [name, value] of Object.entries(fields)) {
    await page.getByRole('textbox', { name, exact: true }).fill(value);
  }
  await page.getByRole('button', { name: 'Start the search' }).click();
  await page.waitForURL(/#\/discover\/[\w-]+$/);
  return page.url().replace(/^.*\/discover\//, '');
}

function emptyPages(page: Page): Shot[] {
  const isTitled = () => expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  return [
    { name: 'empty-runs', address: '/runs', prepare: isTitled },
    { name: 'empty-compare', address: '/compare', prepare: isTitled },
    { name: 'empty-studies', address: '/studies', prepare: isTitled },
    { name: 'empty-discovery', address: '/discover', prepare: isTitled },
  ];
}

function runPages(page: Page, { run, regression, many, failed, pipelined }: Trained): Shot[] {
  const figure = () => expect(page.locator('figure').first()).toBeVisible();
  const points = () => expectPoints(page, 'NLL');
  return [
    { name: 'run-finished', address: `/runs/${run}/live`, prepare: points },
    { name: 'run-16-members', address: `/runs/${many}/live`, prepare: points },
    {
      name: 'run-diverged',
      address: `/runs/${failed}/live`,
      prepare: () => expectEnd(page, /failed|diverged|finished/),
    },
    {
      name: 'run-pipelined',
      address: `/runs/${pipelined}/live`,
      prepare: points,
      open: () => page.getByRole('region', { name: 'Ranks' }).scrollIntoViewIfNeeded(),
    },
    { name: 'run-ensemble', address: `/runs/${run}/ensemble`, prepare: figure },
    { name: 'run-ensemble-16-members', address: `/runs/${many}/ensemble`, prepare: figure },
    { name: 'run-ensemble-regression', address: `/runs/${regression}/ensemble`, prepare: figure },
    {
      name: 'run-sample',
      address: `/runs/${run}/ensemble?sample=0`,
      prepare: () => expect(page.locator('.input-parts')).toBeVisible(),
      open: () => page.locator('.input-parts').scrollIntoViewIfNeeded(),
    },
    { name: 'run-predict', address: `/runs/${run}/predict`, prepare: () => predict(page) },
    { name: 'run-checkpoints', address: `/runs/${run}/checkpoints`, prepare: () => compareSets(page) },
    { name: 'run-logs', address: `/runs/${run}/logs`, prepare: () => expect(page.getByRole('log')).toBeVisible() },
    {
      name: 'run-configuration',
      address: `/runs/${run}/configuration`,
      prepare: () => expect(page.getByText('npx tutti train')).toBeVisible(),
    },
  ];
}

function listPages(page: Page, { run, first, many }: Trained): Shot[] {
  return [
    { name: 'runs', address: '/runs', prepare: () => expect(page.getByRole('row')).toHaveCount(7) },
    {
      name: 'compare',
      address: `/compare?runs=${run},${first},${many}`,
      prepare: () => expect(page.getByLabel('Differences')).toBeVisible(),
    },
    { name: 'saved-comparisons', address: `/compare?runs=${run},${first}`, prepare: () => saveComparison(page) },
    {
      name: 'configure',
      address: `/configure?from=${run}`,
      prepare: () => expect(page.getByLabel('Command line', { exact: true })).toBeVisible(),
    },
    {
      name: 'projects',
      address: '/',
      prepare: async () => {
        await expect(page.getByText(/CPU cores? found/)).toBeVisible(patience);
        // Replaces names of folders with those of projects, and the last one with that of the last example.
        await expect(page.getByRole('heading', { name: /^\d\d_/ })).toHaveCount(0, patience);
      },
    },
  ];
}

function studyPages(page: Page, study: string, search: string): Shot[] {
  return [
    {
      name: 'study',
      address: `/studies/${study}`,
      prepare: () => expect(page.getByRole('img', { name: /^History: / })).toBeVisible(),
    },
    { name: 'studies', address: '/studies', prepare: () => expect(page.getByRole('row')).toHaveCount(2) },
    {
      name: 'new-study',
      address: `/new-study?project=${encodeURIComponent(blobs)}`,
      prepare: async () => {
        await page.getByRole('button', { name: 'Add a parameter' }).click();
        await page.getByLabel('Name of parameter 1').fill('optimizer.learningRate');
        await page.keyboard.press('Tab');
      },
    },
    {
      name: 'search',
      address: `/discover/${search}`,
      prepare: () => expect(page.getByRole('img', { name: /^Hits: / })).toBeVisible(),
    },
    { name: 'searches', address: '/discover', prepare: () => expect(page.getByRole('row')).toHaveCount(2) },
    {
      name: 'new-search',
      address: `/new-search?project=${encodeURIComponent(screen)}`,
      prepare: () => expect(page.getByRole('button', { name: 'Start the search' })).toBeVisible(),
    },
  ];
}

function otherPages(page: Page): Shot[] {
  return [
    {
      name: 'settings',
      address: '/settings',
      prepare: () => expect(page.getByRole('heading', { name: 'Versions' })).toBeVisible(),
    },
    {
      name: 'attach',
      address: '/runs?attach=remote',
      prepare: async () => {
        const dialog = page.getByRole('dialog', { name: 'Attach to a remote run' });
        await dialog.getByLabel('Address').fill('me@login.cluster:cifar-ensemble');
        await expect(dialog.getByText(/tutti attach/)).toBeVisible();
      },
    },
    {
      name: 'unknown-run',
      address: '/runs/no-such-run/live',
      prepare: () => expect(page.getByRole('heading').first()).toBeVisible(),
    },
    {
      name: 'shortcuts',
      address: '/runs',
      prepare: async () => {
        await expect(page.getByRole('row')).toHaveCount(7);
        await page.keyboard.press('?');
        await expect(page.getByRole('dialog', { name: 'Shortcuts' })).toBeVisible();
      },
    },
    {
      name: 'palette',
      address: '/runs',
      prepare: async () => {
        // The dialog of the picture before.
        await page.keyboard.press('Escape');
        await expect(page.getByRole('row')).toHaveCount(7);
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').getByLabel('Find a page, project or run').fill('blobs');
        await expect(page.getByRole('option').first()).toBeVisible();
      },
    },
  ];
}

/** The last pictures: from then on the page hears nothing from Tutti. */
function loadingPages(page: Page, run: string): Shot[] {
  const waits = async (): Promise<void> => {
    await page.routeWebSocket(/./, () => undefined);
    await page.reload();
    await expect(page.locator('.skeleton').first()).toBeVisible();
  };
  return [
    { name: 'loading-runs', address: '/runs', prepare: waits, isLoading: true },
    { name: 'loading-run', address: `/runs/${run}/live`, prepare: waits, isLoading: true },
  ];
}

async function saveComparison(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByLabel('Name').fill('Two and four members');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'Saved', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Close message' }).click();
  await page.getByRole('link', { name: 'Saved comparisons' }).click();
  await expect(page.getByRole('link', { name: 'Two and four members' })).toBeVisible();
}

async function predict(page: Page): Promise<void> {
  await page.getByLabel('x0').fill('1.5');
  await page.getByLabel('x1').fill('-2');
  await page.getByRole('button', { name: 'Predict', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Answers of the members' }).getByRole('row').nth(1)).toBeVisible();
}

async function compareSets(page: Page): Promise<void> {
  const tray = page.getByRole('region', { name: 'Sets to compare' });
  await tray.getByRole('button', { name: "Ensemble's best" }).first().click();
  await tray.getByRole('button', { name: 'Final' }).last().click();
  await tray.getByRole('button', { name: 'Evaluate' }).click();
  await expect(tray.getByRole('button', { name: 'Evaluate', exact: true })).toBeEnabled(patience);
}

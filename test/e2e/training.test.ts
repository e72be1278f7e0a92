import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { readZip } from '../unit/export/zip-reader.ts';
import { expect } from './support/expect.ts';
import { chooseAction, expectPoints, expectProgress, expectStatus, Stage } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`Training an ensemble from the browser${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  it('is configured from an example', async () => {
    await page.getByRole('link', { name: 'Train Heteroscedastic regression' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Heteroscedastic regression');
    await page.getByLabel('Members', { exact: true }).fill('3');
    await page.getByLabel('Max epochs', { exact: true }).fill('zero');
    await expect(page.getByText('1 option needs correction.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
    await page.getByLabel('Max epochs', { exact: true }).fill('1000000');
    await page.getByLabel('Find an option').fill('evaluate every');
    await expect(page.getByLabel('Members', { exact: true })).toHaveCount(0);
    await page.getByLabel('Evaluate every epochs', { exact: true }).fill('100');
    await expect(page.getByRole('status').getByText('3 changed')).toBeVisible();
    const command = page.getByLabel('Command line', { exact: true });
    await expect(command).toContainText('--members 3');
    await expect(command).toContainText('--max-epochs 1000000');
  });

  it('shows points as they arrive', async () => {
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/#\/runs\//);
    await expectStatus(page, 'running');
    await expect(page.getByRole('region', { name: 'Ranks' }).getByRole('row')).toHaveCount(1 + 3 + 1);
    await expectPoints(page, 'NLL');
    await expectProgress(page, 'NLL');
  });

  it('survives a reload, including earlier points', async () => {
    await page.reload();
    await expectStatus(page, 'running');
    await expect(page).toHaveTitle(/ · epoch \d+\/\d+ – Tutti$/);
    await expectPoints(page, 'NLL');
    await expect(page.getByRole('img', { name: /^NLL, step 100 / })).toBeVisible();
    await expectProgress(page, 'NLL');
  });

  it('is followed by two browsers at once', async () => {
    const context = await stage.newContext(await page.context().storageState());
    const second = await stage.watchedPage(context);
    await second.goto(page.url());
    await expectPoints(second, 'NLL');
    await expect(second.getByRole('button', { name: 'Stop jointly' })).toBeEnabled();
    await Promise.all([page, second].map((window) => expectProgress(window, 'NLL')));
    await context.close();
  });

  it('stops jointly and compares its checkpoints on the test split', async () => {
    await page.getByRole('button', { name: 'Stop jointly' }).click();
    const dialog = page.getByRole('alertdialog');
    await expect(dialog).toContainText("every member's weights at the ensemble's best evaluation");
    await dialog.getByRole('button', { name: 'Stop now' }).click();
    await expectStatus(page, 'stopped');
    const sets = page.getByRole('region', { name: 'Evaluated sets' });
    await expect(sets.getByRole('heading')).toHaveText('Sets on the test split');
    await expect(sets.getByRole('rowheader')).toHaveText(['final', 'ensemble-best', 'member-best']);
    const ends = await page.getByRole('region', { name: 'Ranks' }).locator('tbody tr[tabindex] .state').allInnerTexts();
    expect(new Set(ends).size).toBe(1);
  });

  it('is evaluated in other compositions', async () => {
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    const matrix = page.getByRole('table', { name: 'Checkpoints by rank and epoch' });
    await expect(matrix.getByRole('row')).toHaveCount(1 + 3 + 1);
    for (const rank of [0, 1, 2]) {
      await matrix.getByRole('button', { name: new RegExp(`^rank ${rank},.*ensemble-best`) }).click();
    }
    const tray = page.getByRole('region', { name: 'Sets to compare' });
    await expect(tray).toContainText('3 checkpoints of 3 ranks');
    await tray.getByRole('radio', { name: 'Set B' }).check();
    await matrix.getByRole('button', { name: /^rank 1,.*final/ }).click();
    await tray.getByRole('combobox', { name: 'Evaluate on' }).selectOption('test');
    await tray.getByRole('button', { name: 'Evaluate' }).click();
    const nll = tray.getByRole('row').filter({ hasText: /^NLL/ });
    await expect(nll).toHaveText(/-?\d+\.\d+/);
    const evaluated = await nll.getByRole('cell').first().innerText();
    await page.getByRole('link', { name: 'Live' }).click();
    const best = page.getByRole('region', { name: 'Evaluated sets' }).locator('tbody', { hasText: 'ensemble-best' });
    // A worker that evaluates the files again gets what the run found at its end.
    await expect(best.getByRole('row').last()).toContainText(evaluated);
  });

  it('pins checkpoints, asks before it deletes them, and undoes the deletion', async () => {
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    const matrix = page.getByRole('table', { name: 'Checkpoints by rank and epoch' });
    const best = matrix.getByRole('button', { name: /^rank 2,.*ensemble-best/ });
    await best.press('k');
    await expect(matrix.getByRole('button', { name: /^rank 2,.*ensemble-best.*pinned/ })).toBeVisible();
    await best.press('Delete');
    const dialog = page.getByRole('alertdialog', { name: 'Delete these checkpoints?' });
    await expect(dialog).toContainText('1 is pinned, 1 is of the ensemble’s best');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(best).toHaveCount(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(matrix.getByRole('button', { name: /^rank 2,.*ensemble-best.*pinned/ })).toBeVisible();
  });

  it('exports chosen checkpoints as models for TensorFlow.js', async () => {
    const tray = page.getByRole('region', { name: 'Sets to compare' });
    const set = tray.getByRole('group', { name: 'Set A' });
    await set.getByRole('button', { name: 'Final' }).click();
    await set.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export 3 checkpoints' });
    await dialog.getByRole('checkbox', { name: /TensorFlow\.js/ }).check();
    await dialog.getByRole('button', { name: 'Export' }).click();
    const link = dialog.getByRole('link', { name: 'Download' });
    // A process loads the project, its data and TensorFlow.js first.
    await expect(link).toBeVisible({ timeout: 90_000 });
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const names = [...readZip(await readFile(await download.path())).keys()];
    // A checkpoint with several names is exported under its first. The last epoch may also be the best.
    expect(names).toContainEqual(
      expect.stringMatching(/^tfjs\/rank-2\/(final|member-best|ensemble-best)\/model\.json$/),
    );
    expect(names).toHaveLength(3 * 4);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Live' }).click();
  });

  it('is exported as a ZIP', async () => {
    await chooseAction(page, 'Export');
    const dialog = page.getByRole('dialog', { name: 'Export this run' });
    await dialog.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('link', { name: 'Download' }).click(),
    ]);
    const files = readZip(await readFile(await download.path()));
    const record: unknown = JSON.parse(String(files.get('run.json')));
    expect(record).toMatchObject({ status: 'stopped', config: { members: 3, maxEpochs: 1_000_000 } });
    const columns = String(files.get('metrics.csv')).split('\n')[0].split(',');
    expect(columns).toEqual(expect.arrayContaining(['epoch', 'step', 'val/ens_nll', 'val/member_2_nll']));
    expect([...files.keys()].filter((name) => name.endsWith('final.safetensors'))).toHaveLength(3);
    await page.keyboard.press('Escape');
  });

  it('is exported as a whole, and imported again after it was deleted', async () => {
    const address = page.url();
    const id = /#\/runs\/([\w-]+)/.exec(address)?.[1] ?? '';
    await chooseAction(page, 'Export');
    const dialog = page.getByRole('dialog', { name: 'Export this run' });
    await dialog.getByLabel('The whole run, as a .tutti file').check();
    await dialog.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${id}.tutti`);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    const files = async (): Promise<string[]> =>
      (await readdir(join(stage.home, 'runs', id, 'state'), { recursive: true })).sort();
    const before = await files();
    await page.getByRole('button', { name: 'Actions on Heteroscedastic regression' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await expect(page.getByText('No runs yet')).toBeVisible();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByLabel('Exported run').setInputFiles({
      name: 'my run.tutti',
      mimeType: 'application/zip',
      buffer: await readFile(await download.path()),
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.waitForURL(new RegExp(`#/runs/${id}$`));
    await expect(page.getByText('The run was imported.')).toBeVisible();
    await expectStatus(page, 'stopped');
    await expectPoints(page, 'NLL');
    expect(await files()).toEqual(before);
  });

  it('is saved as a report', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), chooseAction(page, 'Report')]);
    expect(download.suggestedFilename()).toMatch(/^[\w-]+\.html$/);
    const report = await readFile(await download.path(), 'utf8');
    expect(report).toContain('<title>Report - Tutti</title>');
    expect(report).toMatch(/default-src 'none'; script-src 'sha256-/);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const screen = join(import.meta.dirname, '..', '..', 'examples', '04_hts_hit_finding');
const options = { members: '2', membersPerDevice: '2', maxEpochs: '2', devices: 'cpu:0' };

describe.skipIf(noChromium !== null)(`Searches on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  /** Fills the form of a new search of the sample of molecules, and starts it. */
  async function begin(fields: Record<string, string>): Promise<void> {
    await visit(page, `/new-search?project=${encodeURIComponent(screen)}`);
    for (const [index, [path, value]] of Object.entries(options).entries()) {
      const option = page.getByLabel(`Name of option ${index + 1}`);
      if ((await option.count()) === 0) await page.getByRole('button', { name: 'Add an option' }).click();
      await option.fill(path);
      await page.getByLabel(`Value of option ${index + 1}`).fill(value);
    }
    for (const [name, value] of Object.entries(fields)) {
      await page.getByRole('textbox', { name, exact: true }).fill(value);
    }
  }

  async function start(): Promise<void> {
    await page.getByRole('button', { name: 'Start the search' }).click();
    await page.waitForURL(/#\/discover\/[\w-]+$/);
  }

  it('a search is begun, followed, and read round by round, with structures and a map', async () => {
    await begin({ 'Labels at the start': '20', 'Labels per round': '5', Rounds: '3', Name: 'Molecules' });
    await page.getByRole('checkbox', { name: 'greedy' }).uncheck();
    expect(await violations(page)).toEqual([]);
    await start();
    await expect(page.locator('.discovery-header .status')).toHaveText('finished', { timeout: 120_000 });
    await expect(page.getByText('3 of 3 rounds, 35 labels')).toBeVisible();
    await expect(page.getByRole('img', { name: /^Hits: ucb \d+ hits among 35 labels, random \d+/ })).toBeVisible();
    await expect(page.getByRole('img', { name: /^Calibration: .* 3 predicted, 3 came out/ })).toBeVisible();

    const slider = page.getByRole('slider', { name: 'Round' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('heading', { name: 'Choices of round 2' })).toBeVisible();
    await page.waitForURL(/round=2/);
    await expect(page.getByRole('img', { name: /^Mean against deviation: / })).toBeVisible();
    const rows = page.getByRole('region', { name: 'Chosen candidates' }).locator('tbody tr');
    await expect(rows).toHaveCount(5);
    await expect(rows.getByRole('img', { name: /^Structure of / })).toHaveCount(5);
    await rows.first().hover();
    await expect(page.getByRole('region', { name: /^Candidate \d+/ })).toContainText('choice 1 of 5');

    await page.getByRole('button', { name: 'Make the map' }).click();
    await expect(page.getByRole('img', { name: /^Map: UMAP 2 over UMAP 1; .* best 1 %/ })).toBeVisible({
      timeout: 120_000,
    });
    await page.getByLabel('Kind of the map').selectOption('pca');
    await expect(page.getByRole('img', { name: /^Map: component 2 \(.* % of the variance\)/ })).toBeVisible();
    for (const theme of ['light', 'dark']) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      expect(await violations(page)).toEqual([]);
    }
  });

  it('a person answers on the page and by a file, and a search that is stopped goes on', async () => {
    await begin({ 'Labels at the start': '4', 'Labels per round': '2', Rounds: '1', Name: 'Asked' });
    await page.getByLabel('Who labels').selectOption('person');
    await start();
    const question = page.getByRole('form', { name: '4 candidates wait for a label' });
    await expect(question).toBeVisible();
    await expect(question.getByRole('img', { name: /^Structure of / })).toHaveCount(4);
    expect(await violations(page)).toEqual([]);
    const labels = question.getByRole('combobox');
    for (const [at, label] of ['active', 'inactive', 'inactive'].entries()) await labels.nth(at).selectOption(label);
    await question.getByRole('button', { name: 'Add 3 of 4 labels' }).click();
    const last = page.getByRole('form', { name: '1 candidate waits for a label' });
    await last.getByRole('combobox').selectOption('inactive');
    await last.getByRole('button', { name: 'Add 1 of 1 labels' }).click();

    const second = page.getByRole('form', { name: '2 candidates wait for a label' });
    await expect(second).toBeVisible({ timeout: 60_000 });
    await expect(second.getByText('±').first()).toBeVisible();
    const saving = page.waitForEvent('download');
    await second.getByRole('button', { name: 'Save as CSV' }).click();
    const csv = await readFile(await (await saving).path(), 'utf8');
    expect(csv).toMatch(/^index,smiles,predicted,deviation,label\n/);
    const filled = join(stage.home, 'filled.csv');
    await writeFile(filled, csv.replaceAll(/,$/gm, ',maybe'));
    await second.getByLabel('Open a filled CSV').setInputFiles(filled);
    await expect(second.getByRole('alert')).toContainText('filled.csv, row 2: "maybe" is no label of the pool');
    await writeFile(filled, csv.replaceAll(/,$/gm, ',active'));
    await second.getByLabel('Open a filled CSV').setInputFiles(filled);
    await expect(page.locator('.discovery-header .status')).toHaveText('finished');
    await expect(page.getByText('1 of 1 rounds, 6 labels')).toBeVisible();

    await begin({ 'Labels at the start': '10', 'Labels per round': '2', Rounds: '40', Name: 'Stopped' });
    await start();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(page.locator('.discovery-header .status')).toHaveText('stopped');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect(page.locator('.discovery-header .status')).toHaveText('running');
    await visit(page, '/discover');
    await expect(page.getByRole('region', { name: 'Searches' }).locator('tbody tr')).toHaveCount(3);
    expect(await violations(page)).toEqual([]);
  });
});

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    .analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`),
  );
}

import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { blobs, Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { expect } from './support/expect.ts';

describe.skipIf(noChromium !== null)(`A sweep over seeds${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  const card = () => page.getByLabel('Seeds of Repeated');

  it('starts from the form, and shows means with standard errors when its runs have finished', async () => {
    const set = JSON.stringify({ members: 2, maxEpochs: 4, membersPerDevice: 2 });
    await visit(page, `/configure?${new URLSearchParams({ project: blobs, set }).toString()}`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Repeated');
    await page.getByLabel('Repeat (number of seeds)').fill('3');
    await page.keyboard.press('Tab');
    await expect(page.getByText('3 runs, one after the other, from seeds 42, 298, ….')).toBeVisible();
    await expect(page.getByLabel('Command line', { exact: true })).toContainText('--repeat 3');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Repeated', exact: true })).toBeVisible();
    await expect(card()).toContainText('3 of 3 finished', { timeout: 120_000 });
    await expect(card().getByRole('table').first()).toContainText(/NLL\s*\d\.\d+ ± \d\.\d+/);
    await expect(page.getByText('the area around it is the mean ± its standard error')).toBeVisible();
    await expect(page.getByRole('img', { name: /^ens NLL, / })).toBeVisible();
  });

  it('is one row of the list, which opens it', async () => {
    await visit(page, '/runs');
    const grid = page.getByRole('grid', { name: 'Runs' });
    await expect(grid.getByRole('link')).toHaveText(['Repeated']);
    await expect(grid.getByRole('row').nth(1)).toContainText('3 of 3 seeds finished');
    await expect(grid.getByRole('row').nth(1)).toContainText('±');
    await grid.getByRole('link').click();
    await card().getByRole('link', { name: 'Repeated, seed 298' }).click();
    await expect(page).toHaveURL(/-seed-1/);
  });
});

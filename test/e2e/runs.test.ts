import type { Locator, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, Stage, visit } from './stage.ts';
import { trainFromTerminal } from './support/tutti-process.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`The table of runs${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    await visit(page, '/runs');
    await expect(page.getByRole('heading', { name: 'No runs yet' })).toBeVisible();
    await trainFromTerminal(stage.home, blobs, '--max-epochs', '4', '--members', '2', '--name', 'small');
    await trainFromTerminal(stage.home, blobs, '--max-epochs', '2', '--members', '3', '--name', 'wide');
  });
  afterAll(() => stage.close());

  const names = () => page.getByRole('grid', { name: 'Runs' }).getByRole('link');
  const rowOf = (name: string): Locator => page.getByRole('row').filter({ hasText: name });

  async function choose(run: string, action: string): Promise<void> {
    await page.getByRole('button', { name: `Actions on ${run}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  it('shows runs from terminals without a reload', async () => {
    await expect(names()).toHaveText(['wide', 'small']);
    await expect(rowOf('wide')).toContainText('finished');
  });

  it('sorts by any column in both directions', async () => {
    const header = page.getByRole('columnheader', { name: 'Members' });
    await header.getByRole('button').click();
    await expect(names()).toHaveText(['small', 'wide']);
    await header.getByRole('button').click();
    await expect(header).toHaveAttribute('aria-sort', 'descending');
    await expect(names()).toHaveText(['wide', 'small']);
  });

  it('renames a run in the table', async () => {
    await choose('small', 'Rename');
    await page.getByLabel('New name of small').fill('narrow');
    await page.keyboard.press('Enter');
    await expect(names()).toHaveText(['wide', 'narrow']);
  });

  it('tags runs and filters by tag, status and words; the address keeps the filter', async () => {
    await choose('narrow', 'Tags and note');
    const dialog = page.getByRole('dialog', { name: 'Tags and note of narrow' });
    await dialog.getByLabel('Tags, separated by commas').fill('baseline, paper');
    await dialog.getByLabel('Note').fill('Before the learning rate was halved.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(rowOf('narrow')).toContainText('Before the learning rate');
    await page.getByLabel('Tag', { exact: true }).selectOption('paper');
    await expect(names()).toHaveText(['narrow']);
    await page.reload();
    await expect(names()).toHaveText(['narrow']);
    await page.getByLabel('Status', { exact: true }).selectOption('failed');
    await expect(page.getByRole('heading', { name: 'No matching runs' })).toBeVisible();
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await page.getByLabel('Search runs').fill('halved');
    await expect(names()).toHaveText(['narrow']);
    await page.getByLabel('Search runs').fill('');
    await expect(names()).toHaveCount(2);
  });

  it('shows an option as a column, and groups by it; the address keeps both', async () => {
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    await dialog.getByLabel('Search columns').fill('maxEpochs');
    await dialog.getByRole('button', { name: '+ Max epochs' }).click();
    await dialog.getByRole('button', { name: 'Move Max epochs to the left' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect(page.getByRole('columnheader', { name: 'Max epochs' })).toBeVisible();
    await expect(rowOf('wide').getByRole('img', { name: /^ens NLL from/ })).toBeVisible();
    await page.getByLabel('Group by').selectOption('By maxEpochs');
    await page.getByRole('button', { name: 'Runs of 4' }).click();
    await page.reload();
    await expect(names()).toHaveText(['narrow']);
    await expect(page.getByRole('row', { name: /Runs of 2/ })).toContainText('1 run, 1 finished');
    await visit(page, '/runs');
    await expect(page.getByRole('columnheader', { name: 'Max epochs' })).toBeVisible();
    await expect(names()).toHaveCount(2);
  });

  it('deletes a run and undoes it', async () => {
    await choose('narrow', 'Delete');
    await expect(names()).toHaveText(['wide']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(names()).toHaveCount(2);
    await rowOf('narrow').getByRole('link').click();
    await expect(page.getByRole('img', { name: /^NLL, / })).toBeVisible();
  });

  it('compares two runs: curves, outcomes and differing settings', async () => {
    await visit(page, '/runs');
    for (const run of ['wide', 'narrow']) await page.getByRole('checkbox', { name: `Select ${run}` }).check();
    await page.getByRole('link', { name: 'Compare 2' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Compare');
    await expect(page.getByRole('img', { name: /^ens NLL, .*wide: latest .*narrow: latest/ })).toBeVisible();
    await page.getByRole('button', { name: 'Add panel' }).click();
    await page.getByRole('menuitem', { name: /^ens ECE/ }).click();
    await expect(page.getByRole('img', { name: /^ens ECE, .*wide: latest .*narrow: latest/ })).toBeVisible();
    await expect(page).toHaveURL(/metric=val\/ens_nll,val\/ens_acc,val\/ens_ece/);
    await page.getByRole('button', { name: 'Baseline: narrow' }).click();
    const results = page.getByRole('region', { name: 'Results', exact: true });
    await expect(results.getByRole('row', { name: /wide/ })).toContainText(/[+−]\d.*(better|worse)/);
    const differences = page.getByRole('region', { name: 'Differences' });
    await expect(differences.getByRole('row', { name: /members/i })).toContainText(/3.*2/);
    await expect(differences.getByRole('row', { name: /maxEpochs/ })).toContainText(/2.*4/);
  });

  it('compares them on a phone, where tables scroll in their frames and the page does not', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const overflow = () => page.locator('main').evaluate((main) => main.scrollWidth - main.clientWidth);
    await expect.poll(overflow).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('saves the comparison, and opens it again from the list', async () => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByLabel('Name').fill('widths');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('button', { name: 'Saved', exact: true })).toBeDisabled();
    await page.getByRole('link', { name: 'Saved comparisons' }).click();
    await page.getByRole('link', { name: 'widths' }).click();
    await expect(page.getByRole('button', { name: 'Baseline: narrow' })).toHaveAttribute('aria-pressed', 'true');
    await expect(page.getByRole('img', { name: /^ens ECE, / })).toBeVisible();
  });
});

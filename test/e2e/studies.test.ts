import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const options = { members: '2', membersPerDevice: '2', maxEpochs: '2' };

describe.skipIf(noChromium !== null)(`Studies on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  it('a study is created, watched, brushed, and made into an ensemble', async () => {
    await visit(page, `/new-study?project=${encodeURIComponent(blobs)}`);
    await page.getByRole('button', { name: 'Add a parameter' }).click();
    await page.getByLabel('Name of parameter 1').fill('optimizer.learningRate');
    await page.keyboard.press('Tab');
    await expect(page.getByLabel('Value of parameter 1')).toHaveValue(/^log\(/);
    await page.getByLabel('Value of parameter 1').fill('log(0.001,1)');
    for (const [index, [path, value]] of Object.entries(options).entries()) {
      await page.getByRole('button', { name: 'Add an option' }).click();
      await page.getByLabel(`Name of option ${index + 1}`).fill(path);
      await page.getByLabel(`Value of option ${index + 1}`).fill(value);
    }
    await page.getByLabel('Trials', { exact: true }).fill('3');
    await page.getByRole('button', { name: 'Start the study' }).click();
    await page.waitForURL(/#\/studies\/[\w-]+$/);

    await expect(page.locator('.study-header .status')).toHaveText('finished');
    await expect(page.getByText('3 of 3 trials ended')).toBeVisible();
    const rows = page.getByRole('grid', { name: 'Trials' }).locator('.row');
    await expect(rows).toHaveCount(3);
    await expect(rows.first()).toContainText('complete');
    await expect(page.getByRole('img', { name: /^History: .* 3 complete\.$/ })).toBeVisible();

    const end = page.getByRole('slider', { name: 'optimizer.learningRate, most' });
    await end.focus();
    for (let press = 0; press < 9; press += 1) await page.keyboard.press('PageDown');
    await expect(page.getByText(/[0-2] of 3 trials selected/)).toBeVisible();
    await page.waitForURL(/only=/);
    await page.keyboard.press('Escape');
    await expect(rows).toHaveCount(3);

    await rows.nth(0).getByRole('checkbox').check();
    await rows.nth(2).getByRole('checkbox').check();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make an ensemble of 2' }).click();
    await page.getByRole('spinbutton', { name: 'Members' }).fill('3');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the ensemble' }).click();
    const arrived = page.waitForURL(/#\/runs\/[\w-]+$/).then(() => 'arrived');
    // A failure is a toast, which says more than a wait that ends.
    expect(await Promise.race([arrived, page.locator('.toast').first().innerText()])).toBe('arrived');
    await expect(page.locator('.run-header .status')).toHaveText('finished');
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

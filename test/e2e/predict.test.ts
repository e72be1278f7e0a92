import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`Predicting on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  it('a filled-in row and a file get the same answer', async () => {
    const options = { members: 2, membersPerDevice: 2, devices: 'cpu:0', maxEpochs: 2 };
    const id = await startRun(page, blobs, options);
    await expectStatus(page, 'finished');
    await visit(page, `/runs/${id}/predict`);
    await page.getByLabel('x0').fill('1.5');
    await page.getByLabel('x1').fill('-2');
    await page.getByRole('button', { name: 'Predict', exact: true }).click();
    const answers = page.getByRole('region', { name: 'Answers of the members' }).getByRole('row');
    await expect(answers.nth(1)).toBeVisible();
    const row = await answers.allInnerTexts();

    const rows = 'x0,x1\n0,0\n1.5,-2\n';
    await page
      .getByLabel('File of samples')
      .setInputFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) });
    await expect(page.getByRole('heading', { name: '2 rows' })).toBeVisible();
    await page.getByRole('button', { name: '2', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Row 2' })).toBeVisible();
    expect(await answers.allInnerTexts()).toEqual(row);
  });
});

import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { blobs, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { expect } from './support/expect.ts';

const together = { members: 2, membersPerDevice: 2, devices: 'cpu:0', maxEpochs: 8 };

describe.skipIf(noChromium !== null)(`Calibrating on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let id: string;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    id = await startRun(page, blobs, together);
    await expectStatus(page, 'finished');
  });
  afterAll(() => stage.close());

  const form = () => page.getByRole('form', { name: 'Calibrate' });
  const fitted = () => page.getByRole('region', { name: 'Calibration and uncertainty' });
  const submit = () => form().getByRole('button', { name: /^Calibrat/ });

  it('fits what the form says, shows it before and after, and keeps it', async () => {
    await visit(page, `/runs/${id}/ensemble`);
    await page.getByRole('button', { name: 'Choose what to fit' }).click();
    await form().getByLabel('Wished risk of answers').fill('-1');
    await expect(form().getByText('Enter a number of at least 0, or nothing.')).toBeVisible();
    await expect(submit()).toBeDisabled();
    await form().getByLabel('Wished risk of answers').fill('0.2');
    await form().getByLabel('Method', { exact: true }).selectOption({ label: 'Vector' });
    await form().getByLabel('Outside the training data by').selectOption({ label: 'input knn' });
    await submit().click();
    await expect(fitted()).toContainText(
      /ensemble-best, fitted on 280 validation samples, 140 for the calibration and 140 for the rest: (vector|no calibration); conformal (thr|raps|aps) for 90\.0 %, chosen by mean size and coverage on 140 other samples: thr .*; outside above input-knn/,
    );
    await expect(fitted().getByRole('row', { name: /^ECE/ })).toBeVisible();
    await expect(page.getByRole('img', { name: /^Reliability (before|after):/ })).toHaveCount(2);

    await form().getByLabel('Method', { exact: true }).selectOption({ label: 'Isotonic' });
    await submit().click();
    await expect(fitted()).toContainText(/isotonic (lowers the NLL|is not kept)/);
    await page.reload();
    await expect(fitted()).toContainText(
      /isotonic (lowers the NLL|is not kept).* 5-fold cross-validation on 140 samples/,
    );
  });

  it("says why the hub's answer is no", async () => {
    await page.getByRole('button', { name: 'Calibrate again' }).click();
    await form().getByLabel('Share of the samples').fill('0.001');
    await form().getByLabel('Checkpoints').selectOption('final');
    await submit().click();
    await expect(page.getByRole('alert')).toContainText('A share of 0.001 leaves no samples for the calibration');
  });

  it('marks the answers for new samples that are withheld or outside, and lists only these', async () => {
    await visit(page, `/runs/${id}/predict`);
    // The centre of a class, the middle between classes, and a place far from all. Rows count from 0, as in the file.
    const rows = 'x0,x1\n4,0\n0,0\n500,-300\n';
    await page
      .getByLabel('File of samples')
      .setInputFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) });
    const table = page.getByRole('region', { name: 'Table of answers' });
    await expect(table.getByRole('row')).toHaveCount(4);
    const listed = () => table.getByRole('rowheader').allInnerTexts();
    const list = (name: string) => page.getByRole('group', { name: 'List rows' }).getByRole('button', { name }).click();
    await list('Withheld');
    expect(await listed()).toContain('1');
    await list('Answered');
    expect(await listed()).toEqual(['0']);
    await list('Outside');
    expect(await listed()).toEqual(['2']);
    await table.getByRole('button', { name: '2' }).click();
    const answer = page.getByRole('region', { name: 'Answer', exact: true });
    await expect(answer).toContainText('This sample is outside the training data');
    const scores = answer.getByRole('region', { name: 'Scores of how unlike the training data it is' });
    await expect(scores.getByRole('row', { name: /^input knn decides .* outside$/ })).toBeVisible();
    await expect(scores.getByRole('row', { name: /^entropy .* inside$/ })).toBeVisible();
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { maximumAnswerBytes } from '../../core/protocol/pages/new-samples.ts';
import { expect } from './support/expect.ts';
import { blobs, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const pictures = join(import.meta.dirname, 'projects', 'pictures');
const together = { members: 2, membersPerDevice: 2, devices: 'cpu:0' };

describe.skipIf(noChromium !== null)(`Predicting on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  const answers = () => page.getByRole('region', { name: 'Answers of the members' }).getByRole('row');
  const choose = (name: string, mimeType: string, buffer: Buffer) =>
    page.getByLabel('File of samples').setInputFiles({ name, mimeType, buffer });

  it('a filled-in row and a row of a large file get the same answer', async () => {
    const id = await startRun(page, blobs, { ...together, maxEpochs: 2 });
    await expectStatus(page, 'finished');
    await visit(page, `/runs/${id}/predict`);
    await page.getByLabel('x0').fill('1.5');
    await page.getByLabel('x1').fill('-2');
    await page.getByRole('button', { name: 'Predict', exact: true }).click();
    await expect(answers().nth(1)).toBeVisible();
    const row = await answers().allInnerTexts();

    // 1.4 MB: in two parts.
    const rows = `x0,x1\n0,0\n1.5,-2\n${'0.000000001,0.000000001\n'.repeat(60_000)}`;
    await choose('rows.csv', 'text/csv', Buffer.from(rows));
    await expect(page.getByRole('heading', { name: 'The first 100 of 60,002 rows' })).toBeVisible();
    await page.getByRole('button', { name: '1', exact: true }).click();
    const answer = page.getByRole('region', { name: 'Answer', exact: true });
    await expect(answer.getByRole('heading', { name: 'Row 1' })).toBeVisible();
    await expect(answer.locator('.input-parts')).toHaveText(/x0\s*1\.5\s*x1\s*-2/);
    expect(await answers().allInnerTexts()).toEqual(row);

    // The predictions have more than 8 MB: the hub keeps them as an export, which the page downloads.
    const downloads = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all as CSV' }).click();
    const saved = await readFile(await (await downloads).path(), 'utf8');
    expect(saved.length).toBeGreaterThan(maximumAnswerBytes);
    expect(saved.split('\n')).toHaveLength(60_002 + 2);
    expect(await readFile(join(stage.home, 'exports', `${id}-predictions.csv`), 'utf8')).toBe(saved);
  });

  it('an image is shown as the model gets it, and so are the samples of the run', async () => {
    const id = await startRun(page, pictures, together);
    await expectStatus(page, 'finished');
    await visit(page, `/runs/${id}/predict`);
    const raw = { width: 30, height: 20, channels: 3 as const };
    const dropped = await sharp({ create: { ...raw, background: '#dcdcdc' } })
      .png()
      .toBuffer();
    const transfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from([${dropped.join()}])], 'light.png', { type: 'image/png' }));
      return data;
    })()`);
    await page.getByRole('region', { name: 'A file' }).dispatchEvent('drop', { dataTransfer: transfer });
    const seen = page.getByAltText('Input of Answer');
    await expect(seen).toBeVisible();
    expect(await sizeOf(seen)).toEqual([12, 12]);
    expect(await sizeOf(page.getByAltText('The image that you chose'))).toEqual([30, 20]);
    expect((await answers().allInnerTexts()).slice(1).join()).toMatch(/dark[^]*bright|bright[^]*dark/);

    await visit(page, `/runs/${id}/ensemble?samples=sample.1&sample=5`);
    await expect(page.getByAltText('Input of sample 5').first()).toBeVisible();
    await page.keyboard.press('j');
    await expect(page.getByRole('region', { name: 'Sample 6' }).getByAltText('Input of sample 6')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Table of samples' }).getByAltText(/^Input of/)).toHaveCount(20);
  });
});

/** The pixels of a shown image. */
async function sizeOf(image: ReturnType<Page['getByAltText']>): Promise<number[]> {
  return image.evaluate((node) => {
    const { naturalWidth, naturalHeight } = node as unknown as Record<'naturalWidth' | 'naturalHeight', number>;
    return [naturalWidth, naturalHeight];
  });
}

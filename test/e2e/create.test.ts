import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { workbookBytes } from '../unit/data/workbook-bytes.ts';
import { expectStatus, Stage, visit } from './stage.ts';
import { violationsInAllLooks } from './support/axe.ts';
import { chromium, noChromium } from './support/browser.ts';
import { dropPath } from './support/drop-path.ts';
import { expect } from './support/expect.ts';

/** A class that a number decides, with a date that can be read in two ways, a row counter and missing cells. */
const csv = [
  'id,day,size,kind',
  ...Array.from({ length: 90 }, (_, i) => {
    const size = (i * 37) % 90;
    return `${i},0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2021,${i % 30 === 7 ? 'NA' : size},${size < 45 ? 'small' : 'large'}`;
  }),
].join('\n');

describe.skipIf(noChromium !== null)(`A project from a file of data${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  async function writeData(name: string, content: string | Buffer): Promise<string> {
    const path = join(stage.home, name);
    await writeFile(path, content);
    return path;
  }

  const drop = (path: string) => dropPath(page, path);
  const heading = (name: string) => page.getByRole('heading', { name, exact: true });
  const next = () => page.getByRole('button', { name: /^Next: / });
  const code = () => page.getByRole('region', { name: 'Code of the project' });
  const answer = () => page.getByRole('region', { name: 'Answers of the members' }).getByRole('row').nth(1);

  /** Writes the project as its code was shown, trains it for two epochs, and opens the page that predicts. */
  async function trainShortly(folder: string): Promise<void> {
    await expect(heading('The project')).toBeFocused();
    await page.getByLabel('New folder of the project').fill(folder);
    const shown = await code().innerText();
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByLabel('Max epochs', { exact: true }).fill('2');
    expect((await readFile(join(folder, 'project.ts'), 'utf8')).trim()).toBe(shown.trim());
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await openPredict();
  }

  async function openPredict(): Promise<void> {
    await page.waitForURL(/#\/runs\/[\w-]+$/);
    await expectStatus(page, 'finished');
    await visit(page, `/runs/${page.url().replace(/^.*\/runs\//, '')}/predict`);
  }

  it('a CSV file that is dropped on any page ends as a trained ensemble that predicts a new row', async () => {
    await visit(page, '/runs');
    await expect(heading('Runs')).toBeVisible();
    await drop(await writeData('my plants.csv', csv));
    await expect(heading('What is in the file')).toBeVisible();
    await expect(page.getByRole('row', { name: /^size number/ })).toContainText('3 ("NA" 3)');
    await expect(next()).toBeDisabled();
    expect(await violationsInAllLooks(page)).toEqual([]);
    await page.getByRole('radio', { name: 'DD/MM/YYYY' }).check();
    await expect(next()).toBeEnabled();

    // From here on by keyboard: each step begins at its heading.
    await next().press('Enter');
    await expect(heading('Target and columns')).toBeFocused();
    await expect(page.getByLabel('Predict')).toHaveValue('kind');
    await expect(page.getByLabel('Role of id')).toHaveValue('ignore');
    expect(await violationsInAllLooks(page)).toEqual([]);
    await page.getByLabel('Role of day').selectOption('ignore');
    await expect(page.getByRole('row', { name: /^day not read/ })).toBeVisible();
    await next().press('Enter');
    await expect(heading('Split and model')).toBeFocused();
    await expect(page.locator('dl.facts')).toContainText(/Training\s*54 rows\s*Validation\s*18 rows\s*Test\s*18 rows/);
    expect(await violationsInAllLooks(page)).toEqual([]);
    await next().press('Enter');
    await expect(heading('The project')).toBeFocused();
    expect(await violationsInAllLooks(page)).toEqual([]);

    const folder = join(stage.home, 'plants-from-file');
    await page.getByLabel('New folder of the project').fill(folder);
    const shown = await code().innerText();
    await page.getByRole('button', { name: 'Create and train' }).press('Enter');
    await page.waitForURL(/#\/runs\/[\w-]+$/);
    const written = await readFile(join(folder, 'project.ts'), 'utf8');
    expect(written.trim()).toBe(shown.trim());
    expect(written).toContain("day: 'ignore'");
    expect(await readFile(join(folder, 'my plants.csv'), 'utf8')).toBe(csv);
    await openPredict();
    await page.getByLabel('size').fill('2');
    await page.getByRole('button', { name: 'Predict', exact: true }).click();
    await expect(answer()).toContainText('small');
  });

  it('a folder of images that is dropped ends as a trained ensemble that predicts an image', async () => {
    const images = join(stage.home, 'shades');
    for (const [split, each] of [
      ['Training', 12],
      ['Testing', 4],
    ] as const) {
      await Promise.all(shades.map((shade) => writeShades(join(images, split, shade.name), shade.grey, each)));
    }
    await writeFile(join(images, 'Training', 'dark', 'notes.gif'), 'no image that is read');
    await visit(page, '/create');
    await expect(heading('Which data?')).toBeVisible();
    expect(await violationsInAllLooks(page)).toEqual([]);
    await drop(images);
    await expect(heading('What is in the folder')).toBeVisible();
    await expect(page.getByRole('row', { name: /^dark 12 4/ })).toBeVisible();
    await expect(page.getByRole('row', { name: /^\.gif 1 no format that is read/ })).toBeVisible();
    expect(await violationsInAllLooks(page)).toEqual([]);
    await next().press('Enter');
    await expect(heading('Splits and model')).toBeFocused();
    // A fifth of 24 is 5; a folder holds the test.
    await expect(page.locator('dl.facts')).toContainText(
      /Training\s*19 images\s*Validation\s*5 images\s*Test\s*8 images/,
    );
    expect(await violationsInAllLooks(page)).toEqual([]);
    await next().press('Enter');
    const folder = join(stage.home, 'shades-from-folder');
    await trainShortly(folder);
    expect(await readdir(join(folder, 'shades', 'Testing', 'light'))).toHaveLength(4);
    await page.getByLabel('File of samples').setInputFiles(join(images, 'Testing', 'light', '0.png'));
    await expect(answer()).toContainText(/dark|light/);
  });

  it('a workbook that is dropped asks which cells, and ends as a trained ensemble that predicts a new row', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => [(i * 37) % 60, (i * 37) % 60 < 30 ? 'small' : 'large']);
    const plants = { name: 'Plants', rows: [['Plants of May'], ['size', 'kind'], ...rows] };
    await visit(page, '/runs');
    const bytes = await workbookBytes({ sheets: [{ name: 'Notes', rows: [['by', 'me']] }, plants] });
    await drop(await writeData('plants.xlsx', bytes));
    await expect(heading('What is in the file')).toBeVisible();
    await page.getByRole('radio', { name: 'Plants' }).check();
    await page.getByRole('radio', { name: 'A2:B' }).check();
    await expect(next()).toBeEnabled();
    await expect(page.getByRole('row', { name: /^size number/ })).toBeVisible();
    await next().press('Enter');
    await next().press('Enter');
    await next().press('Enter');
    await expect(code()).toContainText("sheet: 'Plants'");
    await expect(code()).toContainText("range: 'A2:B'");
    await trainShortly(join(stage.home, 'plants-from-workbook'));
    await page.getByLabel('size').fill('2');
    await page.getByRole('button', { name: 'Predict', exact: true }).click();
    await expect(answer()).toContainText(/small|large/);
  });
});

const shades = [
  { name: 'dark', grey: 20 },
  { name: 'light', grey: 200 },
];

async function writeShades(folder: string, grey: number, count: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const raw = { width: 8, height: 8, channels: 3 as const };
  const images = Array.from({ length: count }, (_, i) => sharp(Buffer.alloc(192, grey + i), { raw }).png());
  await Promise.all(images.map((image, i) => image.toFile(join(folder, `${i}.png`))));
}

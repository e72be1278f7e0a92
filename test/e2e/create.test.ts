import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { expectStatus, Stage, visit } from './stage.ts';
import { violationsInAllLooks } from './support/axe.ts';
import { chromium, noChromium } from './support/browser.ts';
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

  async function drop(name: string, content: string): Promise<void> {
    const transfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}, { type: 'text/csv' }));
      return data;
    })()`);
    await page.getByRole('main').dispatchEvent('drop', { dataTransfer: transfer });
  }
  const heading = (name: string) => page.getByRole('heading', { name, exact: true });
  const next = () => page.getByRole('button', { name: /^Next: / });

  it('a CSV file that is dropped on any page ends as a trained ensemble that predicts a new row', async () => {
    await visit(page, '/runs');
    await expect(heading('Runs')).toBeVisible();
    await drop('my plants.csv', csv);
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
    const shown = await page.getByRole('region', { name: 'Code of the project' }).innerText();
    await page.getByRole('button', { name: 'Create and train' }).press('Enter');
    await page.waitForURL(/#\/runs\/[\w-]+$/);
    const written = await readFile(join(folder, 'project.ts'), 'utf8');
    expect(written.trim()).toBe(shown.trim());
    expect(written).toContain("day: 'ignore'");
    expect(await readFile(join(folder, 'my plants.csv'), 'utf8')).toBe(csv);
    await expectStatus(page, 'finished');

    await visit(page, `/runs/${page.url().replace(/^.*\/runs\//, '')}/predict`);
    await page.getByLabel('size').fill('2');
    await page.getByRole('button', { name: 'Predict', exact: true }).click();
    const answer = page.getByRole('region', { name: 'Answers of the members' }).getByRole('row');
    await expect(answer.nth(1)).toContainText('small');
  });
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, expectPoints, expectStatus, sine, Stage, startRun, visit } from './stage.ts';
import { violationsIn, violationsInAllLooks } from './support/axe.ts';
import { chromium, noChromium } from './support/browser.ts';
import { importStudy } from './support/import-study.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`axe finds no serious violation${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let run: string;
  let study: string;
  const newStudy = (): string => `/new-study?project=${encodeURIComponent(blobs)}`;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    run = await startRun(page, blobs, { maxEpochs: 6 });
    await expectPoints(page, 'NLL');
    await expectStatus(page, 'finished');
    study = await importStudy(page, sine);
  });
  afterAll(() => stage.close());

  const places: [place: string, address: () => string, ready: () => Promise<void>][] = [
    ['projects', () => '/', () => expect(page.getByRole('link', { name: /^Train/ }).first()).toBeVisible()],
    [
      'configure',
      () => `/configure?from=${run}`,
      () => expect(page.getByLabel('Command line', { exact: true })).toBeVisible(),
    ],
    ['runs', () => '/runs', () => expect(page.getByRole('row')).toHaveCount(2)],
    ['live', () => `/runs/${run}/live`, () => expectPoints(page, 'NLL')],
    ['ensemble', () => `/runs/${run}/ensemble?sample=0`, () => expect(page.locator('.input-parts')).toBeVisible()],
    ['predict', () => `/runs/${run}/predict`, () => expect(page.getByLabel('File of samples')).toBeVisible()],
    ['checkpoints', () => `/runs/${run}/checkpoints`, () => expect(page.getByLabel('Sets to compare')).toBeVisible()],
    ['logs', () => `/runs/${run}/logs`, () => expect(page.getByText(/lines?/).first()).toBeVisible()],
    [
      'configuration',
      () => `/runs/${run}/configuration`,
      () => expect(page.getByText('maxEpochs').first()).toBeVisible(),
    ],
    [
      'compare',
      () => `/compare?runs=${run}`,
      () => expect(page.getByRole('heading', { name: 'Results', exact: true })).toBeVisible(),
    ],
    ['studies', () => '/studies', () => expect(page.getByRole('row')).toHaveCount(2)],
    ['new study', newStudy, () => expect(page.getByLabel('Splits')).toBeVisible()],
    ['study', () => `/studies/${study}`, () => expect(page.getByRole('img', { name: /^History: / })).toBeVisible()],
    ['searches', () => '/discover', () => expect(page.getByRole('heading', { level: 1 })).toBeVisible()],
    ['new search', () => '/new-search', () => expect(page.getByRole('heading', { level: 1 })).toBeVisible()],
    ['an unknown page', () => '/nowhere', () => expect(page.getByRole('heading').first()).toBeVisible()],
    ['design', () => '/design', () => expect(page.getByRole('cell', { name: 'enough' }).first()).toBeVisible()],
    ['settings', () => '/settings', () => expect(page.getByRole('heading', { name: 'Versions' })).toBeVisible()],
  ];

  it.each(places)('on %s, at all widths, in both themes', async (_place, address, ready) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(page, address());
    await ready();
    expect(await violationsInAllLooks(page)).toEqual([]);
  });

  describe.each(['light', 'dark'] as const)('with the %s theme', (theme) => {
    beforeAll(async () => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
    });

    it('each chart of a run is one stop of the Tab key', async () => {
      await visit(page, `/runs/${run}/live`);
      await expectPoints(page, 'NLL');
      const stops = await page
        .locator('.chart-card')
        .evaluateAll((cards) =>
          cards.map((card) => [...card.querySelectorAll('*')].filter(({ tabIndex }) => tabIndex >= 0).length),
        );
      expect(new Set(stops)).toEqual(new Set([1]));
    });

    it('in dialogs', async () => {
      await page.keyboard.press('?');
      await expect(page.getByRole('dialog', { name: 'Shortcuts' })).toBeVisible();
      expect(await violationsIn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await expect(page.getByRole('option').first()).toBeVisible();
      expect(await violationsIn(page)).toEqual([]);
      await page.keyboard.press('Escape');
    });

    it('in a report, which opens without a server', async () => {
      const file = join(stage.home, `report-${theme}.html`);
      await writeReportOf(stage, run, file);
      const context = await stage.newContext();
      await context.setOffline(true);
      const report = await stage.watchedPage(context);
      await report.emulateMedia({ colorScheme: theme });
      await report.goto(pathToFileURL(file).href);
      await expect(report.getByRole('heading', { level: 1 })).toBeVisible();
      await expectPoints(report, 'NLL');
      await expect(report.getByRole('heading', { name: 'Reliability' })).toBeVisible();
      await expect(report.getByRole('cell', { name: 'ensemble', exact: true }).first()).toBeVisible();
      expect(await violationsIn(report)).toEqual([]);
      await context.close();
    });
  });
});

/** `tutti report` of a run in the stage's home. */
async function writeReportOf(stage: Stage, run: string, file: string): Promise<void> {
  const tutti = join(import.meta.dirname, '../../src-main/tutti.mjs');
  const env = { ...process.env, TUTTI_HOME: stage.home };
  await promisify(execFile)(process.execPath, [tutti, 'report', run, '--output', file], { env });
}

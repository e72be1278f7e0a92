import { mkdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Page } from '@playwright/test';
import { buildIfStale } from '../../src-main/built/build.ts';
import { findChromium } from './support/chromium.ts';
import { importStudy } from './support/import-study.ts';
import { expect } from './support/expect.ts';
import { takeDesign } from './take-design.ts';
import { blobs, expectPoints, sine, Stage, startRun, visit } from './stage.ts';

/**
 * Takes `docs/screenshots/`: every page in both themes, from runs trained for it; and the references of the design page's test, with `--design` only
 * those.
 */

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'docs', 'screenshots');
const maximumBytes = 200_000;
const themes = ['light', 'dark'] as const;
/** Waits until a run has finished. */
const patience = { timeout: 120_000 };

interface Shot {
  name: string;
  address: string;
  prepare: () => Promise<void>;
}

async function takeAll(page: Page, home: string): Promise<void> {
  const short = await startRun(page, sine, { members: 4, maxEpochs: 2000, evaluateEveryEpochs: 100 }, 'sine');
  await expectFinished(page);
  const first = await startRun(page, blobs, { members: 2, maxEpochs: 60 }, 'blobs, 2 members');
  await expectFinished(page);
  const patient = { enabled: true, patience: 40 };
  const run = await startRun(page, blobs, { members: 4, maxEpochs: 150, earlyStopping: patient }, 'blobs, 4 members');
  const wellUnderWay = () => expect(page.locator('.run-header')).toContainText(/epoch [2-9]\d\//, patience);
  await take(page, home, [{ name: 'run-live', address: `/runs/${run}/live`, prepare: wellUnderWay }]);
  await expectFinished(page);

  const study = await importStudy(page, sine);
  const figure = () => expect(page.locator('figure').first()).toBeVisible();
  await take(page, home, [
    { name: 'run-finished', address: `/runs/${run}/live`, prepare: () => expectPoints(page, 'NLL') },
    { name: 'run-ensemble', address: `/runs/${run}/ensemble`, prepare: figure },
    { name: 'run-ensemble-regression', address: `/runs/${short}/ensemble`, prepare: figure },
    { name: 'run-checkpoints', address: `/runs/${run}/checkpoints`, prepare: () => compareSets(page) },
    { name: 'run-logs', address: `/runs/${run}/logs`, prepare: () => expect(page.getByRole('log')).toBeVisible() },
    {
      name: 'run-configuration',
      address: `/runs/${run}/configuration`,
      prepare: () => expect(page.getByText('npx tutti train')).toBeVisible(patience),
    },
    { name: 'runs', address: '/runs', prepare: () => expect(page.getByRole('row')).toHaveCount(4) },
    {
      name: 'compare',
      address: `/compare?runs=${run},${first}`,
      prepare: () => expect(page.getByLabel('Differences')).toBeVisible(),
    },
    {
      name: 'configure',
      address: `/configure?from=${run}`,
      prepare: () => expect(page.getByLabel('Command line', { exact: true })).toBeVisible(),
    },
    {
      name: 'projects',
      address: '/',
      prepare: async () => {
        await expect(page.getByText(/CPU cores? found/)).toBeVisible(patience);
        // Replaces names of folders with those of projects, and the last one with that of the last example.
        await expect(page.getByRole('heading', { name: /^\d\d_/ })).toHaveCount(0, patience);
      },
    },
    {
      name: 'new-study',
      address: `/new-study?project=${encodeURIComponent(blobs)}`,
      prepare: async () => {
        await page.getByRole('button', { name: 'Add a parameter' }).click();
        await page.getByLabel('Option of parameter 1').fill('optimizer.learningRate');
        await page.keyboard.press('Tab');
      },
    },
    {
      name: 'study',
      address: `/studies/${study}`,
      prepare: () => expect(page.getByRole('img', { name: /^History: / })).toBeVisible(),
    },
    { name: 'studies', address: '/studies', prepare: () => expect(page.getByRole('row')).toHaveCount(2) },
    {
      name: 'settings',
      address: '/settings',
      prepare: () => expect(page.getByRole('heading', { name: 'Versions' })).toBeVisible(),
    },
  ]);
}

async function expectFinished(page: Page): Promise<void> {
  await expect(page.locator('.run-header .status')).toHaveText('finished', patience);
}

/** Every page in both themes, once its content is there. */
async function take(page: Page, home: string, shots: readonly Shot[]): Promise<void> {
  for (const { name, address, prepare } of shots) {
    await visit(page, address);
    await prepare();
    await replaceTexts(page, { [home]: '~/.tutti', [root]: '~/tutti' });
    for (const theme of themes) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      const path = join(folder, `${name}-${theme}.png`);
      await page.screenshot({ path, animations: 'disabled' });
      const { size } = await stat(path);
      if (size > maximumBytes) console.warn(`${basename(path)} has ${size} bytes, more than ${maximumBytes}.`);
    }
  }
}

/** Removes the paths of the machine that takes a picture. */
async function replaceTexts(page: Page, replacements: Record<string, string>): Promise<void> {
  await page.locator('body').evaluate((body, replacements) => {
    const showTexts = 4;
    const walker = body.ownerDocument.createTreeWalker(body, showTexts);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode;
      for (const [text, other] of Object.entries(replacements)) {
        node.nodeValue = node.nodeValue?.replaceAll(text, other) ?? null;
      }
    }
  }, replacements);
}

async function compareSets(page: Page): Promise<void> {
  const tray = page.getByRole('region', { name: 'Sets to compare' });
  await tray.getByRole('button', { name: "Ensemble's best" }).first().click();
  await tray.getByRole('button', { name: 'Final' }).last().click();
  await tray.getByRole('button', { name: 'Evaluate' }).click();
  await expect(tray.getByRole('button', { name: 'Evaluate', exact: true })).toBeEnabled(patience);
}

const chromium = findChromium();
if (chromium === null) throw new Error('There is no Chromium to take screenshots with. Install chromium.');
await buildIfStale();
await mkdir(folder, { recursive: true });
const stage = await Stage.open(chromium);
try {
  await takeDesign(stage);
  if (!process.argv.includes('--design')) await takeAll(await stage.openPage(), stage.home);
} finally {
  await stage.close();
}

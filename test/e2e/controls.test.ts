import type { Locator, Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { chooseAction, blobs, expectPoints, expectProgress, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const endless = {
  members: 3,
  maxEpochs: 1_000_000,
  logEverySteps: 1,
  earlyStopping: { enabled: true, patience: 500_000 },
};

describe.skipIf(noChromium !== null)(`Control of a running run${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let run: string;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    run = await startRun(page, blobs, endless);
    await expectStatus(page, 'running');
    await expectPoints(page, 'NLL');
  });
  afterAll(() => stage.close());

  const events = (): Locator => page.getByRole('region', { name: 'Events' });
  const rankRow = (rank: number): Locator =>
    page.getByRole('region', { name: 'Ranks' }).locator('tbody tr[tabindex]').nth(rank);

  it('shows the load of its devices at the cursor of its charts', async () => {
    const loads = page.getByRole('region', { name: 'Device load over time' });
    const strip = loads.getByRole('img', { name: /^cpu:0 · rank/ });
    await expect(strip).toHaveAttribute('aria-label', /: \d+ %$/);
    await strip.hover();
    await expect(page.locator('.chart-cursor').first()).toBeAttached();
    await page.mouse.move(0, 0);
    await expect(page.locator('.chart-cursor')).toHaveCount(0);
  });

  it('resizes charts by keys and by drag, and remembers the sizes', async () => {
    const card = (title: string): Locator => page.locator(`section.chart-card[aria-label="${title}"]`);
    const boxOf = async (title: string) => {
      const box = await card(title).boundingBox();
      if (box === null) throw new Error(`The chart ${title} is not shown.`);
      return box;
    };
    const [nll, accuracy] = [await boxOf('NLL'), await boxOf('Accuracy')];
    expect(nll.width).toBeGreaterThan(1.5 * accuracy.width);
    await card('NLL')
      .getByRole('button', { name: /^Resize NLL, 2 columns, 2 rows/ })
      .press('Shift+ArrowUp');
    await expect.poll(async () => (await boxOf('NLL')).height).toBe(accuracy.height);
    await expect(page.getByRole('status').filter({ hasText: 'NLL: 2 columns, 1 row' })).toBeAttached();

    await card('ECE').scrollIntoViewIfNeeded();
    const before = await boxOf('ECE');
    const [right, bottom] = [before.x + before.width, before.y + before.height];
    await page.mouse.move(right - 6, bottom - 6);
    await page.mouse.down();
    await page.mouse.move(right + 0.7 * before.width, bottom - 6, { steps: 4 });
    await page.mouse.up();
    await expect.poll(async () => (await boxOf('ECE')).width).toBeGreaterThan(1.5 * before.width);

    await page.reload();
    await expectPoints(page, 'NLL');
    await expect(card('ECE').getByRole('button', { name: /^Resize ECE, 2 columns, 1 row/ })).toBeAttached();
    await card('NLL')
      .getByRole('button', { name: /^Resize NLL/ })
      .press('Shift+ArrowDown');
  });

  it('adds a panel of the user’s metrics, keeps it, and removes it', async () => {
    await page.getByRole('button', { name: 'Add panel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add panel' });
    await dialog.getByLabel('Kind').selectOption('Scatter');
    await dialog.getByLabel('x axis').selectOption('Disagreement');
    await dialog.getByLabel('y axis').selectOption('NLL, ensemble');
    await dialog.getByLabel('Title').fill('Mine');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await expect(page.getByRole('img', { name: /^Mine: NLL, ensemble over Disagreement; \d+ run/ })).toBeVisible();
    await page.reload();
    const own = page.getByRole('region', { name: 'Own panels' });
    await expect(own.getByRole('img', { name: /^Mine: / })).toBeVisible();
    await own.getByRole('img', { name: /^Mine: / }).focus();
    await page.keyboard.press('Enter');
    await own.getByRole('button', { name: 'Remove Mine' }).press('Enter');
    await expect(own).toHaveCount(0);
    await expectPoints(page, 'NLL');
  });

  it('folds a section of charts, and remembers it', async () => {
    const heading = page.getByRole('button', { name: 'System', exact: true });
    await heading.click();
    await expect(page.getByRole('img', { name: /^Throughput/ })).toHaveCount(0);
    await page.reload();
    await expect(heading).toHaveAttribute('aria-expanded', 'false');
    await heading.click();
    await expect(page.getByRole('img', { name: /^Throughput/ })).toHaveCount(1);
  });

  it('pauses, shows the pause, and resumes', async () => {
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await expect(page.locator('.run-header').getByText('paused', { exact: true })).toBeVisible();
    await expect(page.getByRole('cell', { name: 'paused', exact: true }).first()).toBeVisible();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
    await expectProgress(page, 'NLL');
  });

  it('accepts a new learning rate, validated as in the form, and marks it in the charts and their tables', async () => {
    await chooseAction(page, 'Edit settings');
    const dialog = page.getByRole('dialog', { name: 'Edit settings' });
    await dialog.getByLabel('Learning rate').fill('-1');
    await expect(dialog.getByRole('alert')).toHaveText('Enter a number above 0.');
    await expect(dialog.getByRole('button', { name: 'Apply' })).toBeDisabled();
    await dialog.getByLabel('Learning rate').fill('0.0123');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await expect(events()).toContainText('optimizer.learningRate changed from 0.003 to 0.0123.');
    // Before everything else, because the undo is offered for ten seconds.
    await page.getByRole('button', { name: 'Undo' }).click();
    const marked = /Marked: .*learning rate 0\.0123 at step [\d,]+/;
    await expect(page.getByRole('img', { name: /^NLL, / })).toHaveAttribute('aria-label', marked);
    await page.getByRole('region', { name: 'Learning rate' }).scrollIntoViewIfNeeded();
    await expect(page.getByRole('img', { name: /^Learning rate, / })).toHaveAttribute('aria-label', marked);
  });

  it('records the undo as one more change', async () => {
    await expect(events()).toContainText('optimizer.learningRate changed from 0.0123 to 0.003.');
    await visit(page, `/runs/${run}/configuration`);
    const changes = page.getByRole('region', { name: 'Changed while running' }).getByRole('row').nth(1);
    await expect(changes.getByRole('rowheader')).toHaveText('optimizer.learningRate');
    // Two per rank, but none for a rank that received both between two of its steps: nothing changed there.
    await expect(changes.getByRole('listitem').nth(1)).toBeVisible();
    await visit(page, `/runs/${run}`);
  });

  it('stops one rank while the others continue', async () => {
    await page.getByRole('button', { name: 'Stop rank 1' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop this rank' }).click();
    await expect(events()).toContainText('Stopped alone after step');
    await expect(rankRow(1).locator('.state')).toHaveText('standing-by');
    await expect(page.getByRole('button', { name: 'Stop rank 1' })).toBeDisabled();
    await page.getByRole('region', { name: 'NLL', exact: true }).scrollIntoViewIfNeeded();
    await expectProgress(page, 'NLL');
  });

  it('stops at the end of the epoch', async () => {
    await page.getByRole('button', { name: 'Stop jointly' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop at the end of the epoch' }).click();
    await expectStatus(page, 'stopped');
    await expect(page.getByRole('img', { name: /^NLL, / })).toHaveAttribute('aria-label', /stop at step [\d,]+/);
  });

  it('resumes with changed options in the form for new runs', async () => {
    await chooseAction(page, 'Resume with changes');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Resume Overlapping blobs');
    await expect(page.getByLabel('Members', { exact: true })).toHaveCount(0);
    await page.getByLabel('Find an option').fill('log every');
    await page.getByLabel('Log every steps', { exact: true }).fill('7');
    await expect(page.getByText('1 changed', { exact: true }).first()).toBeVisible();
    const command = page.getByLabel('Command line', { exact: true });
    await expect(command).toHaveText(`npx tutti resume ${run} --set logEverySteps=7`);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.waitForURL(/#\/runs\/[\w-]+$/);
    await expectStatus(page, 'running');
    await expectProgress(page, 'NLL');
    await page.getByRole('button', { name: 'Stop jointly' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop now' }).click();
    await expectStatus(page, 'stopped');
  });
});

import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, expectPoints, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const longName =
  'A name as sweeps make them: learning rate 0.003, width 64, batch 40, seed 7, weight decay 0.0005, joint';

describe.skipIf(noChromium !== null)(`The smallest window, with a long name${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let run: string;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
    await page.setViewportSize({ width: 1024, height: 700 });
    run = await startRun(page, blobs, { members: 2, maxEpochs: 4, keepPredictions: 'all' }, longName);
    await expectStatus(page, 'finished');
  });
  afterAll(() => stage.close());

  const beyondTheEdge = () =>
    page.locator('.page').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);

  it.each([
    ['live', () => `/runs/${run}/live`, () => expectPoints(page, 'NLL')],
    ['ensemble', () => `/runs/${run}/ensemble`, () => expect(page.locator('figure').first()).toBeVisible()],
    ['predict', () => `/runs/${run}/predict`, () => expect(page.getByLabel('File of samples')).toBeVisible()],
    ['checkpoints', () => `/runs/${run}/checkpoints`, () => expect(page.getByLabel('Sets to compare')).toBeVisible()],
    [
      'configuration',
      () => `/runs/${run}/configuration`,
      () => expect(page.getByText('maxEpochs').first()).toBeVisible(),
    ],
    ['runs', () => '/runs', () => expect(page.getByRole('row')).toHaveCount(2)],
    [
      'compare',
      () => `/compare?runs=${run}`,
      () => expect(page.getByRole('heading', { name: 'Results', exact: true })).toBeVisible(),
    ],
    ['configure', () => `/configure?from=${run}`, () => expect(page.getByText(/^as in A name/)).toBeVisible()],
    ['logs', () => `/runs/${run}/logs`, () => expect(page.getByRole('log')).toBeVisible()],
    ['projects', () => '/', () => expect(page.getByRole('heading', { name: 'Examples' })).toBeVisible()],
    ['settings', () => '/settings', () => expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()],
    ['a missing run', () => '/runs/none', () => expect(page.getByRole('link', { name: 'Go to runs' })).toBeVisible()],
    [
      'a missing project',
      () => '/configure?project=/none',
      () => expect(page.getByRole('link', { name: 'Go to projects' })).toBeVisible(),
    ],
  ])('%s does not scroll sideways, nor on a phone', async (_place, address, ready) => {
    await visit(page, address());
    await ready();
    expect(await beyondTheEdge()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await ready();
    // Charts follow the window's size after it has changed.
    await expect.poll(beyondTheEdge).toBe(0);
    await page.setViewportSize({ width: 1024, height: 700 });
  });

  it.each([
    ['live', () => `/runs/${run}/live`, () => expectPoints(page, 'NLL')],
    ['ensemble', () => `/runs/${run}/ensemble`, () => expect(page.locator('figure').first()).toBeVisible()],
    [
      'configuration',
      () => `/runs/${run}/configuration`,
      () => expect(page.getByText('npx tutti train')).toBeVisible(),
    ],
    [
      'configure',
      () => `/configure?from=${run}`,
      () => expect(page.getByLabel('Command line', { exact: true })).toBeVisible(),
    ],
  ])('%s loads with almost no layout shift', async (_place, address, ready) => {
    await visit(page, address());
    await page.reload();
    await page.evaluate(`
      globalThis.shifts = new PerformanceObserver((list) => (shifts.past += sumOf(list.getEntries())));
      globalThis.sumOf = (entries) => entries.reduce((sum, { value }) => sum + value, 0);
      shifts.past = 0;
      shifts.observe({ type: 'layout-shift', buffered: true });
    `);
    await ready();
    // Moved fraction of the window times distance (https://web.dev/articles/cls). Up to 0.1 is good.
    expect(await page.evaluate<number>('shifts.past + sumOf(shifts.takeRecords())')).toBeLessThan(0.05);
  });

  it.each([
    ['live', () => `/runs/${run}/live`, () => expectPoints(page, 'NLL')],
    [
      'compare',
      () => `/compare?runs=${run}`,
      () => expect(page.getByRole('heading', { name: 'Results', exact: true })).toBeVisible(),
    ],
  ])('the chart toolbar fits one line on %s', async (_place, address, ready) => {
    await visit(page, address());
    await ready();
    const [height, tallest] = await page.getByRole('toolbar', { name: 'How charts are shown' }).evaluate((toolbar) => {
      const heights = [...toolbar.children].map((child) => child.clientHeight);
      return [toolbar.clientHeight, Math.max(...heights)];
    });
    expect(height).toBeLessThan(1.5 * tallest);
  });

  it('the actions above the table of runs fit one line on the smallest phone, with their full names for screen readers', async () => {
    await visit(page, '/runs');
    await page.setViewportSize({ width: 360, height: 780 });
    const actions = [
      page.getByRole('button', { name: 'Import', exact: true }),
      page.getByRole('button', { name: 'Attach to a remote run…', exact: true }),
      page.getByRole('link', { name: 'Saved comparisons', exact: true }),
    ];
    await expect.poll(() => actions[1].innerText()).toContain('Attach…');
    const tops = await Promise.all(actions.map(async (action) => (await action.boundingBox())?.y));
    expect(new Set(tops).size).toBe(1);
    expect(await beyondTheEdge()).toBe(0);
    await page.setViewportSize({ width: 1024, height: 700 });
  });

  it('a page starts at its top, wherever the previous one was scrolled to', async () => {
    await visit(page, `/runs/${run}/live`);
    await expectPoints(page, 'NLL');
    const scroller = page.locator('.page');
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    expect(await scroller.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
    await visit(page, `/runs/${run}/configuration`);
    await expect(page.getByText('maxEpochs').first()).toBeVisible();
    expect(await scroller.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
  });

  it('the table of ranks counts epochs as the header does', async () => {
    await visit(page, `/runs/${run}/live`);
    await expect(page.locator('.run-header')).toContainText('epoch 4/4');
    const table = page.getByRole('region', { name: 'Ranks' });
    const place = (await table.getByRole('columnheader').allInnerTexts()).indexOf('Epoch');
    const rows = table.locator('tbody tr[tabindex]');
    await expect(rows.locator(`> :nth-child(${place + 1})`)).toHaveText(['4', '4']);
  });

  it('arrow keys step through the epochs of one split, and the address follows', async () => {
    await visit(page, `/runs/${run}/ensemble?predictions=validation/epoch-00001`);
    const slider = page.getByRole('slider', { name: 'Predictions of the validation split, by epoch' });
    await expect(slider).toHaveAttribute('aria-valuetext', 'validation: epoch-00001 (epoch 2)');
    await slider.press('ArrowRight');
    await expect(page).toHaveURL(/predictions=validation(\/|%2F)epoch-00002/);
    await slider.press('End');
    await expect(slider).toHaveAttribute('aria-valuetext', 'validation: last (epoch 4)');
    await expect(page.getByText('280 samples after epoch 4')).toBeVisible();
  });

  it('the coverage is part of the address', async () => {
    await visit(page, `/runs/${run}/ensemble?predictions=validation/last&coverage=0.5`);
    const slider = page.getByRole('slider', { name: 'Share of samples answered' });
    await expect(slider).toHaveAttribute('aria-valuetext', /^At 50 % coverage: /);
    await slider.press('End');
    await expect(page).toHaveURL(/coverage=1$/);
    await expect(slider).toHaveAttribute('aria-valuetext', /^At 100 % coverage: /);
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { blobs, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`Forks on the pages${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  it('a run is forked from a checkpoint with a changed option, and both runs name each other', async () => {
    const checkpoints = { everyEpochs: 1, stateEverySeconds: 0 };
    const options = { members: 2, membersPerDevice: 2, devices: 'cpu:0', maxEpochs: 3, checkpoints };
    const first = await startRun(page, blobs, options, 'first');
    await expectStatus(page, 'finished');

    await page.getByRole('link', { name: 'Checkpoints', exact: true }).click();
    const points = page.getByRole('region', { name: 'Where a fork can begin' });
    await expect(points.getByRole('row').filter({ hasText: 'exactly, from a state' })).toHaveCount(2);
    const place = points.getByRole('row').filter({ hasText: 'epoch-00000' });
    await expect(place).toContainText('with the weights only');
    await place.getByRole('link', { name: /^Fork from here/ }).click();

    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Fork of first');
    await expect(page.getByText(/^It takes the weights of .* after epoch 1 \(step \d+\)/)).toBeVisible();
    const maxEpochs = page.getByLabel('Max epochs');
    await expect(maxEpochs).toHaveValue('3');
    await maxEpochs.fill('1');
    await expect(page.getByText(/has nothing left to train/)).toBeVisible();
    await maxEpochs.fill('4');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('second');
    await expect(page.getByLabel('Command line', { exact: true })).toContainText(
      new RegExp(`npx tutti fork ${first} --at \\S+ --set maxEpochs=4 --name second`),
    );
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page.locator('.run-header')).toContainText('fork of first');
    await expectStatus(page, 'finished');

    await page.getByRole('link', { name: 'Configuration', exact: true }).click();
    const history = page.getByRole('region', { name: 'History' });
    await expect(history).toContainText('Attempt 1, forked at epoch 2');
    await history.getByRole('link', { name: 'first' }).click();
    await visit(page, `/runs/${first}/configuration`);
    await expect(history.getByRole('link', { name: 'second' })).toBeVisible();
    await expect(history).toContainText('Attempt 1, started');
  });

  it('pipelined members have one line and one row of checkpoints each, their ranks show their layers, and a fork continues them', async () => {
    const checkpoints = { everyEpochs: 1, stateEverySeconds: 0 };
    const strategy = { kind: 'pipeline', stages: 2, cuts: ['dense_1'] };
    const options = { members: 4, strategy, devices: 'cpu:0', maxEpochs: 2, checkpoints };
    const id = await startRun(page, blobs, options, 'pipelined');
    await expectStatus(page, 'finished');
    await expectPlaces(page);
    await expect(page.locator('.run-header')).toContainText('2 members on 4 ranks · pipeline');
    const legend = page.getByRole('group', { name: 'Lines of the charts' });
    await expect(legend.getByRole('button', { name: /^Lines of/ })).toHaveText(['0', '1']);
    // A rank of the second stage stands for its member's lines.
    await page.getByRole('row').filter({ hasText: 'member 1, stage 2 of 2' }).press('Space');
    await expect(legend.getByRole('button', { name: 'Lines of member 1' })).toHaveAttribute('aria-pressed', 'false');

    const [names, ...lines] = (await readFile(join(stage.home, 'runs', id, 'metrics.csv'), 'utf8')).trim().split('\n');
    const last = (lines.at(-1) ?? '').split(',');
    const shown = (name: string): string => Number(last[names.split(',').indexOf(name)]).toPrecision(4);
    await page.getByRole('link', { name: 'Ensemble', exact: true }).click();
    await expect(page.getByText(shown('val/ens_nll'), { exact: true })).toBeVisible();
    await expect(page.getByText(`mean member ${shown('val/avg_member_nll')}`)).toBeVisible();

    await page.getByRole('link', { name: 'Checkpoints', exact: true }).click();
    await expect(page.getByText(/^10 files, /)).toBeVisible();
    const points = page.getByRole('region', { name: 'Where a fork can begin' });
    const place = points.getByRole('row').filter({ hasText: 'epoch-00000' });
    await place.getByRole('link', { name: /^Fork from here/ }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('continued');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect(page.locator('.run-header')).toContainText('fork of pipelined');
    await expectStatus(page, 'finished');
    await expectPlaces(page);
  });
});

/** Two members of a network with 4,612 weights, cut behind its first layer. */
async function expectPlaces(page: Page): Promise<void> {
  const table = page.getByRole('region', { name: 'Ranks' });
  for (const [place, layers, weights] of [
    ['member 0, stage 1 of 2', 'dense_0', '192 (4 %)'],
    ['member 1, stage 1 of 2', 'dense_0', '192 (4 %)'],
    ['member 0, stage 2 of 2', 'dense_1 to dense_2', '4,420 (96 %)'],
    ['member 1, stage 2 of 2', 'dense_1 to dense_2', '4,420 (96 %)'],
  ]) {
    const row = table.getByRole('row').filter({ hasText: place });
    await expect(row.getByRole('cell').nth(0)).toHaveText(layers);
    await expect(row.getByRole('cell').nth(1)).toHaveText(weights);
  }
}

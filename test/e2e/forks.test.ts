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
});

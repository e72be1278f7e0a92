import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { Stage, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { newLink } from './support/tutti-process.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`A browser without a link${notRun(noChromium)}`, () => {
  let stage: Stage;
  let stranger: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    await stage.openPage();
    stranger = await stage.watchedPage(await stage.newContext());
  });
  afterAll(() => stage.close(/Failed to load resource|WebSocket connection|A browser asks for a link/));

  it.each([
    ['a link that was used before', ({ tutti }: Stage) => tutti.link],
    ['an invented token', ({ tutti }: Stage) => `http://127.0.0.1:${tutti.port}/?token=AAAA`],
    ['no token', ({ tutti }: Stage) => `http://127.0.0.1:${tutti.port}/`],
  ])('gets only an error with %s', async (_case, address) => {
    const response = await stranger.goto(address(stage));
    expect(response?.status()).toBe(401);
    await expect(stranger.getByRole('heading')).toHaveText('Tutti runs, but does not know this browser');
    expect((await new AxeBuilder({ page: stranger }).analyze()).violations).toEqual([]);
  });

  it('has a link shown in the terminal by one button', async () => {
    await stranger.goto(`http://127.0.0.1:${stage.tutti.port}/`);
    await stranger.getByRole('button', { name: 'Show a new link in the terminal' }).click();
    await expect(stranger.getByRole('status')).toHaveText('The link is in the terminal.');
  });

  it('opens Tutti by the link of another terminal', async () => {
    const page = await stage.openPage(await newLink(stage.home));
    await visit(page, '/settings');
    await page.getByRole('button', { name: 'New link', exact: true }).click();
    const link = (await page.locator('code', { hasText: 'token=' }).textContent()) ?? '';
    const other = await stage.openPage(link);
    await expect(other.getByRole('navigation', { name: 'Pages' })).toBeVisible();
  });

  it('cannot reach the hub without the page', async () => {
    const opened = stranger.evaluate(
      (port) =>
        new Promise<boolean>((resolve) => {
          const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`);
          socket.addEventListener('open', () => resolve(true));
          socket.addEventListener('error', () => resolve(false));
        }),
      stage.tutti.port,
    );
    expect(await opened).toBe(false);
  });
});

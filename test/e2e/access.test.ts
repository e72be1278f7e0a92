import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { Stage } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`A browser without a link${notRun(noChromium)}`, () => {
  let stage: Stage;
  let stranger: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    await stage.openPage();
    stranger = await stage.watchedPage(await stage.newContext());
  });
  afterAll(() => stage.close(/Failed to load resource|WebSocket connection/));

  it.each([
    ['a link that was used before', ({ tutti }: Stage) => tutti.link],
    ['an invented token', ({ tutti }: Stage) => `http://127.0.0.1:${tutti.port}/?token=AAAA`],
    ['no token', ({ tutti }: Stage) => `http://127.0.0.1:${tutti.port}/`],
  ])('gets only an error with %s', async (_case, address) => {
    const response = await stranger.goto(address(stage));
    expect(response?.status()).toBe(401);
    await expect(stranger.locator('body')).toHaveText(/^Open the link that Tutti printed/);
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

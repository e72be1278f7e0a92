import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { Stage } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

describe.skipIf(noChromium !== null)(`Keys and themes${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  const heading = () => page.getByRole('heading', { level: 1 });

  it('? lists all keys, and escape closes the list', async () => {
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
    await expect(dialog).toContainText('Go to runs');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });

  it('two keys open a page, and / the search', async () => {
    for (const [keys, title] of [
      [['g', 'r'], 'Runs'],
      [['g', 's'], 'Settings and health'],
      [['g', 'p'], 'Projects'],
    ] as const) {
      // Both are sent at once: a sequence ends after a second without a key.
      await Promise.all(keys.map((key) => page.keyboard.press(key)));
      await expect(heading()).toHaveText(title);
    }
    await page.keyboard.press('/');
    await expect(heading()).toHaveText('Runs');
  });

  it('the palette finds projects by some of their letters', async () => {
    await page.keyboard.press('Control+k');
    const field = page.getByRole('dialog').getByLabel('Find a page, project or run');
    await expect(field).toBeFocused();
    await field.fill('hetero');
    await expect(page.getByRole('option')).toHaveText([/^Train Heteroscedastic regression/]);
    await page.keyboard.press('Enter');
    await expect(heading()).toHaveText('Heteroscedastic regression');
  });

  it('an address without a page says so', async () => {
    await page.goto(`http://127.0.0.1:${stage.tutti.port}/#/rnus/3`);
    await expect(page.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
    await expect(page.locator('main')).toContainText('/rnus/3');
    await page.getByRole('link', { name: 'Go to runs' }).click();
    await expect(heading()).toHaveText('Runs');
  });

  it('a page is busy until the page of its address is there: an address that is set before is lost', async () => {
    const held = Promise.withResolvers<void>();
    const other = await stage.watchedPage(page.context());
    await other.route(/assets\/RunsPage-.*\.js$/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await other.goto(`http://127.0.0.1:${stage.tutti.port}/#/runs`);
    const main = other.locator('main');
    // The hub has told what this page may do: the palette offers what is for owners.
    await expect(main).toBeVisible();
    await other.keyboard.press('Control+k');
    await other.getByLabel('Find a page, project or run').fill('attach');
    await expect(other.getByRole('option', { name: /Attach/ })).toBeVisible();
    await other.keyboard.press('Escape');
    await expect(main).toHaveAttribute('aria-busy', 'true');
    held.resolve();
    await expect(main).toHaveAttribute('aria-busy', 'false');
    await other.evaluate(`location.hash = '/settings'`);
    await expect(main.getByRole('heading', { level: 1 })).toHaveText('Settings and health');
    await other.close();
  });

  it('the theme survives a reload', async () => {
    const canvas = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    await page.goto(`http://127.0.0.1:${stage.tutti.port}/#/settings`);
    await page.getByRole('button', { name: 'light' }).click();
    const light = await canvas();
    await page.getByRole('button', { name: 'dark' }).click();
    await expect.poll(canvas).not.toBe(light);
    const dark = await canvas();
    await page.reload();
    await expect(page.getByRole('button', { name: 'dark' })).toHaveAttribute('aria-pressed', 'true');
    expect(await canvas()).toBe(dark);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expect } from './support/expect.ts';
import { chooseAction, blobs, expectPoints, expectProgress, expectStatus, Stage, startRun } from './stage.ts';
import { Tunnel, tunnelBrowserFlag } from './support/tunnel.ts';
import { newLink, startTutti } from './support/tutti-process.ts';
import { chromium, noChromium } from './support/browser.ts';
import { notRun } from '../environment/reasons.ts';

const endless = { maxEpochs: 1_000_000, earlyStopping: { enabled: false } };

describe.skipIf(noChromium !== null)(`Failures on the page${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;
  let tunnel: Tunnel;
  let run: string;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '', { browserFlags: [tunnelBrowserFlag] });
    tunnel = new Tunnel(stage.tutti.port);
    await tunnel.open();
    page = await stage.openPage(stage.tutti.link.replace('127.0.0.1', 'localhost'));
  });
  afterAll(async () => {
    await tunnel.cut();
    await stage.close(
      /WebSocket connection|Failed to load resource|was interrupted: its process is gone|A browser asks for a link/,
    );
  });

  it('a killed worker fails the run, naming rank, device and signal', async () => {
    await startRun(page, blobs, { ...endless, onMemberLoss: { kind: 'stop' } });
    await expectPoints(page, 'NLL');
    const victim = page.getByRole('region', { name: 'Ranks' }).locator('tbody tr[tabindex]').nth(1);
    const device = await victim.getByRole('cell').nth(0).innerText();
    process.kill(Number(await victim.getByRole('cell').nth(1).innerText()), 'SIGKILL');
    await expectStatus(page, 'failed');
    const failure = page.locator('.run-header').getByRole('alert');
    await expect(failure).toContainText('ank 1');
    await expect(failure).toContainText(device);
    await expect(failure).toContainText('SIGKILL');
    await expect(page.getByRole('region', { name: 'Events' })).toContainText('SIGKILL');
  });

  it('with a restart left, a run continues from its last state; charts mark it and ranks count it', async () => {
    await startRun(page, blobs, {
      ...endless,
      onMemberLoss: { kind: 'restart', maxRestarts: 1 },
      checkpoints: { stateEverySeconds: 0 },
    });
    await expectPoints(page, 'NLL');
    const ranks = page.getByRole('region', { name: 'Ranks' });
    const rows = ranks.locator('tbody tr[tabindex]');
    const column = (await ranks.getByRole('columnheader').allInnerTexts()).indexOf('Restarts');
    await expect(rows.nth(1).locator('> *').nth(column)).toHaveText('0');
    process.kill(Number(await rows.nth(1).getByRole('cell').nth(1).innerText()), 'SIGKILL');
    await expect(rows.nth(0).locator('> *').nth(column)).toHaveText('1');
    await expect(page.getByRole('region', { name: 'Events' })).toContainText('Restart 1 of 1: rank 1 was lost');
    const chart = page.getByRole('img', { name: /^NLL, / });
    await expect(chart).toHaveAttribute('aria-label', /restarted, rank 1 was lost at step [\d,]+/);
    await expectProgress(page, 'NLL');
    await expectStatus(page, 'running');
    await page.getByRole('button', { name: 'Stop jointly' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop now' }).click();
    await expectStatus(page, 'stopped');
  });

  it('a broken connection to Tutti costs only the time to reconnect', async () => {
    run = await startRun(page, blobs, endless);
    await expectPoints(page, 'NLL');
    await tunnel.cut();
    await expect(page.getByRole('alert')).toContainText('Tutti does not answer.');
    await expectPoints(page, 'NLL');
    await expect(page.getByRole('button', { name: 'Reconnect now' })).toBeVisible();
    await tunnel.open();
    await tryNow(page);
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expectProgress(page, 'NLL');
  });

  it('if Tutti is killed and started again, the page reconnects by itself', async () => {
    const { port } = stage.tutti;
    await stage.tutti.kill();
    await expect(page.getByRole('alert')).toContainText('This page reconnects as soon as it does');
    stage.tutti = await startTutti(stage.home);
    expect(stage.tutti.port).toBe(port);
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expectStatus(page, 'interrupted');
  });

  it('if Tutti has lost its sessions, one button and the link that it shows bring the page back', async () => {
    await stage.tutti.kill();
    await writeFile(join(stage.home, 'dashboard', `${stage.tutti.port}.sessions.json`), '{"sessions": []}');
    stage.tutti = await startTutti(stage.home);
    await expect(page.getByRole('alert')).toContainText('Tutti runs, but does not know this browser any more.');
    await page.getByRole('button', { name: 'Show a new link in the terminal' }).click();
    await expect(page.getByRole('alert')).toContainText("Open the link in Tutti's terminal. This page then continues.");
    const link = (await newLink(stage.home)).replace('127.0.0.1', 'localhost');
    const opened = await page.context().newPage();
    await opened.goto(link);
    await expect(opened.getByRole('navigation', { name: 'Pages' })).toBeVisible();
    await opened.close();
    await expect(page.getByRole('alert')).toHaveCount(0);
  });

  it('the abandoned run is interrupted and resumes where it was', async () => {
    const next = await stage.openPage();
    await next.getByRole('link', { name: 'Runs', exact: true }).click();
    const row = next.getByRole('row', { name: /interrupted/ });
    await expect(row).toHaveCount(1);
    await row.getByRole('link').click();
    await next.waitForURL(`**/#/runs/${run}`);
    await next.getByRole('button', { name: 'Resume' }).click();
    await expectStatus(next, 'running');
    await expectProgress(next, 'NLL');
    await chooseAction(next, 'Abort');
    await next.getByRole('alertdialog').getByRole('button', { name: 'Abort' }).click();
    await expectStatus(next, 'interrupted');
  });
});

/** The page also retries automatically, and then removes the button. */
async function tryNow(page: Page): Promise<void> {
  const buttons = page.getByRole('button', { name: 'Reconnect now' });
  await buttons.evaluateAll((found) => found.forEach((button) => button.click()));
}

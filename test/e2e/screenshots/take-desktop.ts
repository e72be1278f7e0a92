import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { type DesktopApp, openInElectron, ownPage } from '../desktop/desktop-entry.ts';
import { expect } from '../support/expect.ts';
import { blobs, expectPoints, expectStatus } from '../stage.ts';
import { replaceTexts } from './camera.ts';

const root = join(import.meta.dirname, '../../..');
const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

/**
 * Takes `desktop-*.png`: the window of the real Electron with its menu bar, at the start and with a run, in both
 * themes.
 */
export async function takeDesktop(folder: string): Promise<void> {
  process.env.TUTTI_TRUST = root;
  const home = await mkdtemp(join(tmpdir(), 'tutti-desktop-'));
  const desktop = await openInElectron({ home });
  try {
    const page = await ownPage(desktop);
    await desktop.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0].setBounds({ x: 0, y: 0, width: 1280, height: 860 }),
    );
    await expect(page.locator('.skeleton, [aria-busy=true]')).toHaveCount(0);
    await expect(page.getByText('Detecting devices')).toHaveCount(0);
    // Projects are called by their folders until they have been described.
    await expect(page.getByRole('heading', { name: /^\d\d_/ })).toHaveCount(0);
    await replaceTexts(page, { [home]: '~/.tutti', [root]: '~/tutti' });
    await takeBoth(desktop, page, join(folder, 'desktop-projects'));
    await train(page);
    await takeBoth(desktop, page, join(folder, 'desktop-run'));
  } finally {
    desktop.signal();
    await desktop.exited;
    await rm(home, { recursive: true, force: true });
  }
}

/** A run of four members to its end, with its page open. */
async function train(page: Page): Promise<void> {
  const query = new URLSearchParams({ project: blobs, set: JSON.stringify({ members: 4, maxEpochs: 40 }) });
  await page.evaluate(`location.hash = ${JSON.stringify(`/configure?${query.toString()}`)}`);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expectPoints(page, 'NLL');
  await expectStatus(page, 'finished');
}

async function takeBoth(desktop: DesktopApp, page: Page, path: string): Promise<void> {
  for (const theme of themes) {
    await show(desktop, page, theme);
    await writeFile(`${path}-${theme}.png`, await lookAtWindow(desktop));
  }
}

/** Shows a theme in the page and in the menu bar, and waits until charts are drawn in it. */
async function show(desktop: DesktopApp, page: Page, theme: Theme): Promise<void> {
  await desktop.evaluate(({ nativeTheme }, source) => void (nativeTheme.themeSource = source), theme);
  await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))',
  );
}

/** The window's part of the screen, as PNG: the screen has it with its menu bar, unlike the page's own picture. */
async function lookAtWindow(desktop: DesktopApp): Promise<Buffer> {
  const { picture, bounds } = await desktop.evaluate(async ({ BrowserWindow, desktopCapturer, screen }) => {
    const thumbnailSize = screen.getPrimaryDisplay().size;
    const [source] = await desktopCapturer.getSources({ types: ['screen'], thumbnailSize });
    return {
      picture: source.thumbnail.toPNG().toString('base64'),
      bounds: BrowserWindow.getAllWindows()[0].getBounds(),
    };
  });
  const { x, y, width, height } = bounds;
  const part = { left: x, top: y, width, height };
  return sharp(Buffer.from(picture, 'base64')).extract(part).png({ palette: true }).toBuffer();
}

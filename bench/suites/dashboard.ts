import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from '@playwright/test';
import { measureApp } from '../dashboard/app.ts';
import { launchBrowser, withBuiltPage } from '../dashboard/built-page.ts';
import { points, ranks, spikes } from '../dashboard/lines.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const renderer = join(import.meta.dirname, '..', '..', 'out', 'renderer');
const repeats = { firstDraw: 5, append: 100, zoom: 30, smooth: 10 };

/** The chart of a large run in a real browser without a GPU, and the size of the pages. */
export const suite: Suite = {
  name: 'dashboard',
  async run(note) {
    note(`${ranks} ranks x ${points} points in Chromium`);
    const browser = await launchBrowser();
    try {
      const charts = await withBuiltPage((url) => measureCharts(browser, url));
      note('the app, with 2,000 runs');
      return [...charts, ...(await measureApp(browser)), ...(await bundleFigures(note))];
    } finally {
      await browser.close();
    }
  },
};

async function measureCharts(browser: Browser, url: string): Promise<Figure[]> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const firstDraws: number[] = [];
  for (let repeat = 0; repeat < repeats.firstDraw; repeat++) {
    await page.goto(url);
    firstDraws.push(await page.evaluate<number>('bench.firstDraw()'));
  }
  return [...(await chartFigures(page, firstDraws)), await finePixelsFigure(browser, url)];
}

/** Four times the pixels, in which a line of one pixel is two wide. */
async function finePixelsFigure(browser: Browser, url: string): Promise<Figure> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 });
  await page.goto(url);
  await page.evaluate('bench.firstDraw()');
  const appends = await page.evaluate<number[]>(`bench.append(${repeats.append})`);
  return milliseconds('append, screen of double density, median', median(appends), null);
}

/** Measures a page with the chart, and judges all figures. */
async function chartFigures(page: Page, firstDraws: number[]): Promise<Figure[]> {
  const seen = await page.evaluate<number>('bench.countSpikes()');
  const appends = await page.evaluate<number[]>(`bench.append(${repeats.append})`);
  const zooms = await page.evaluate<number[]>(`bench.zoom(${repeats.zoom})`);
  const smooths = await page.evaluate<number[]>(`bench.smooth(${repeats.smooth})`);
  return [
    milliseconds('first draw, median', median(firstDraws), 150),
    milliseconds('append at 10 Hz, a frame, median', median(appends), null),
    milliseconds('append at 10 Hz, a frame, p95', percentile95(appends), 30),
    milliseconds('zoom, p95', percentile95(zooms), 100),
    milliseconds('another smoothing, p95', percentile95(smooths), null),
    figure({ ...shared, name: 'spikes seen', value: seen, unit: `of ${spikes}`, better: 'higher', target: spikes }),
  ];
}

const shared = { suite: 'dashboard' };

function milliseconds(name: string, value: number, target: number | null): Figure {
  return figure({ ...shared, name, value, unit: 'ms', better: 'lower', target });
}

function percentile95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1];
}

/** The files that a browser fetches to show the pages. */
async function bundleFigures(note: (message: string) => void): Promise<Figure[]> {
  const entries = await readdir(renderer, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    note(`the bundle is not measured, as ${renderer} cannot be read (${String(error)}): run npm run build first`);
    return [];
  });
  if (entries.length === 0) return [];
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000;
  return [figure({ ...shared, name: 'pages, gzipped', value: kilobytes, unit: 'KB', better: 'lower', target: 700 })];
}

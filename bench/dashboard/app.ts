import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { homePaths } from '../../src-main/store/home.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../src-main/store/index/run-index.ts';
import { startTutti } from '../../test/e2e/support/tutti-process.ts';
import { type Figure, figure } from '../figures.ts';
import { benchRecord } from '../records.ts';

const runs = 2_000;
const starts = 3;

/** The whole app in the browser: the time until it can be used, and until the table of many runs is shown. */
export async function measureApp(browser: Browser): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  try {
    await writeRuns(home);
    const startedMs: number[] = [];
    let tableMs: number[] = [];
    for (let start = 0; start < starts; start += 1) {
      const measured = await measureStart(browser, home);
      startedMs.push(measured.startMs);
      tableMs = [...tableMs, ...measured.tableMs];
    }
    return [
      milliseconds('start to usable window, the slowest', Math.max(...startedMs), 3000),
      milliseconds(`${runs} runs in the table, first draw, the slowest`, Math.max(...tableMs), 500),
    ];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function writeRuns(home: string): Promise<void> {
  const index = await RunIndex.open(home);
  for (let run = 0; run < runs; run += 1) {
    const id = `run-${String(run).padStart(4, '0')}`;
    const [record, folder] = [benchRecord(id), join(homePaths(home).runs, id)];
    await createRunFolder(folder, record);
    index.upsert(record, folder);
  }
  index.close();
}

async function measureStart(browser: Browser, home: string): Promise<{ startMs: number; tableMs: number[] }> {
  const begunMs = performance.now();
  const tutti = await startTutti(home);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.goto(tutti.link);
    await page
      .getByRole('link', { name: /^Train/ })
      .first()
      .waitFor();
    const startMs = performance.now() - begunMs;
    return { startMs, tableMs: [await drawTable(page), await drawTable(page)] };
  } finally {
    await page.close();
    await tutti.stop();
  }
}

/** From the click on "Runs" to the frame that shows rows. */
async function drawTable(page: Page): Promise<number> {
  await page.getByRole('link', { name: 'Projects', exact: true }).click();
  await page
    .getByRole('link', { name: /^Train/ })
    .first()
    .waitFor();
  return await page.evaluate<number>(`new Promise((resolve) => {
    const begunMs = performance.now();
    const look = () => {
      const isDrawn = document.querySelectorAll('.runs [role=row]').length > 10;
      requestAnimationFrame(isDrawn ? () => resolve(performance.now() - begunMs) : look);
    };
    document.querySelector('a[href="#/runs"]').click();
    look();
  })`);
}

function milliseconds(name: string, value: number, target: number): Figure {
  return figure({ suite: 'dashboard', name, value, unit: 'ms', better: 'lower', target });
}

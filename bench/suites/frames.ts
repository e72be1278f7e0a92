import type { Browser, Page } from '@playwright/test';
import { launchBrowser, withBuiltPage } from '../dashboard/built-page.ts';
import { points } from '../dashboard/lines.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const ranks = 64;
const rounds = 10;
const repeats = { firstDraw: 2, append: 15, zoom: 8, smooth: 9 };
const before = process.env.TUTTI_BENCH_BEFORE;

/** The medians of one round, in milliseconds. */
type Times = Record<'first draw' | 'append' | 'zoom' | 'another smoothing', number>;

/**
 * The chart of a very large ensemble. With `TUTTI_BENCH_BEFORE=<another working tree>` it is measured in turns with
 * that tree's, and judged by the median of the ratios.
 */
export const suite: Suite = {
  name: 'frames',
  async run(note) {
    note(`${ranks} ranks x ${points} points in Chromium${before === undefined ? '' : `, in turns with ${before}`}`);
    const browser = await launchBrowser();
    try {
      return await withBuiltPage(async (url) => {
        if (before === undefined) return await measureAlone(browser, url);
        return await withBuiltPage((old) => measureInTurns(browser, url, old, note), before);
      });
    } finally {
      await browser.close();
    }
  },
};

async function measureAlone(browser: Browser, url: string): Promise<Figure[]> {
  const times: Times[] = [];
  for (let round = 0; round < rounds; round++) times.push(await measureRound(browser, url));
  return kinds(times).map((kind) => milliseconds(kind, times));
}

async function measureInTurns(
  browser: Browser,
  url: string,
  oldUrl: string,
  note: (message: string) => void,
): Promise<Figure[]> {
  const pairs: { now: Times; old: Times }[] = [];
  for (let round = 0; round < rounds; round++) {
    const pair: { now?: Times; old?: Times } = {};
    const order = round % 2 === 0 ? (['now', 'old'] as const) : (['old', 'now'] as const);
    for (const side of order) pair[side] = await measureRound(browser, side === 'now' ? url : oldUrl);
    if (pair.now === undefined || pair.old === undefined) throw new Error('A round measures both sides.');
    const { now, old } = pair;
    pairs.push({ now, old });
    note(
      kinds([now])
        .map((kind) => `${kind} ${now[kind].toFixed(1)} / ${old[kind].toFixed(1)} ms`)
        .join(', '),
    );
  }
  const present = pairs.map(({ now }) => now);
  return kinds(present).flatMap((kind) => {
    const ratio = median(pairs.map(({ now, old }) => now[kind] / old[kind]));
    const name = `${kind}, over that before the redesign, median of ${rounds} pairs`;
    return [
      milliseconds(kind, present),
      figure({ suite: 'frames', name, value: ratio, unit: 'x', better: 'lower', target: 1 }),
    ];
  });
}

async function measureRound(browser: Browser, url: string): Promise<Times> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    const firstDraws: number[] = [];
    for (let repeat = 0; repeat < repeats.firstDraw; repeat++) {
      await page.goto(`${url}?ranks=${ranks}`);
      firstDraws.push(await page.evaluate<number>('bench.firstDraw()'));
    }
    return {
      'first draw': median(firstDraws),
      append: await medianOf(page, `bench.append(${repeats.append})`),
      zoom: await medianOf(page, `bench.zoom(${repeats.zoom})`),
      'another smoothing': await medianOf(page, `bench.smooth(${repeats.smooth})`),
    };
  } finally {
    await page.close();
  }
}

async function medianOf(page: Page, expression: string): Promise<number> {
  return median(await page.evaluate<number[]>(expression));
}

function kinds(times: readonly Times[]): (keyof Times)[] {
  return Object.keys(times[0]) as (keyof Times)[];
}

function milliseconds(kind: keyof Times, times: readonly Times[]): Figure {
  const value = median(times.map((round) => round[kind]));
  return figure({ suite: 'frames', name: `${kind}, median`, value, unit: 'ms', better: 'lower', target: null });
}

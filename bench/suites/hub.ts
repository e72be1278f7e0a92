import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { type Figure, figure, type Suite } from '../figures.ts';
import { writeLongRun } from '../hub/long-run.ts';

const openRunEntry = join(import.meta.dirname, '..', 'hub', 'open-run.ts');
const followRunEntry = join(import.meta.dirname, '..', 'hub', 'follow-run.ts');
const millions = 10;

const openedSchema = z.strictObject({ ms: z.number(), points: z.int() });
const followedSchema = z.strictObject({
  pointsPerSecond: z.number(),
  growthMegabytes: z.number(),
  rssMegabytes: z.number(),
});

/**
 * The hub with many points: it opens a run of ten million, and records, follows and serves twenty thousand per second.
 */
export const suite: Suite = {
  name: 'hub',
  async run(note) {
    const home = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
    try {
      return [...(await openFigures(home, note)), ...(await followFigures(home, note))];
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

async function openFigures(home: string, note: (message: string) => void): Promise<Figure[]> {
  note(`writing a run of ${millions} million points`);
  await writeLongRun(join(home, 'runs', 'long'), 'long', millions * 1e6);
  note('opening it, the first time without its index');
  const first = openedSchema.parse(await ask(openRunEntry, home, 'long'));
  const again = openedSchema.parse(await ask(openRunEntry, home, 'long'));
  const name = `open ${millions} million points`;
  return [
    milliseconds(`${name}, no index yet`, first.ms, null),
    milliseconds(`${name}, ${again.points} of them sent`, again.ms, 1000),
  ];
}

/** An hour at 20,000 points per second is 72 million points. */
async function followFigures(home: string, note: (message: string) => void): Promise<Figure[]> {
  note('a run that reports as fast as the hub takes it, followed by a page');
  const { pointsPerSecond, growthMegabytes, rssMegabytes } = followedSchema.parse(await ask(followRunEntry, home));
  return [
    figure({
      suite: 'hub',
      name: 'points kept and served',
      value: pointsPerSecond,
      unit: '1/s',
      better: 'higher',
      target: 20_000,
    }),
    figure({
      suite: 'hub',
      name: `memory a million points, of ${Math.round(rssMegabytes)} MB`,
      value: growthMegabytes,
      unit: 'MB',
      better: 'lower',
      target: 1,
    }),
  ];
}

function milliseconds(name: string, value: number, target: number | null): Figure {
  return figure({ suite: 'hub', name, value, unit: 'ms', better: 'lower', target });
}

/** The measurement of a separate process, which shares no memory with this one. */
async function ask(entry: string, home: string, ...args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, ['--expose-gc', entry, ...args], {
    env: { ...process.env, TUTTI_HOME: home, TUTTI_TRUST: join(import.meta.dirname, '..', '..') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const said = await text(child.stdout);
  await exited;
  if (child.exitCode !== 0) throw new Error(`${entry} ended with ${child.exitCode ?? child.signalCode}.`);
  return JSON.parse(said);
}

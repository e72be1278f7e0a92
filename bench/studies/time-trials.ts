import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, figure } from '../figures.ts';

const tutti = join(import.meta.dirname, '..', '..', 'src-main', 'tutti.mjs');
const project = join(import.meta.dirname, '..', 'projects', 'wine-like');
const trialCount = 64;
const targetSpeedUp = 3;

/** The ways to train the trials of a study. All give trials the same values. */
const ways = [
  { name: 'one after the other', args: ['--parallel', '1'] },
  { name: 'two at a time', args: ['--parallel', '2'] },
  { name: 'two workers of 8', args: ['--parallel', '16', '--trials-per-worker', '8'] },
  { name: 'two workers of 32', args: ['--parallel', '64', '--trials-per-worker', '32'] },
];

/** Whole commands `tutti search` of trials of one member with 50 units and 40 epochs, on two cores. */
export async function timeTrials(note: (message: string) => void): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'tutti-bench-'));
  try {
    note('a warm-up, which fills the cache of compiled code');
    await search(home, ['--trials', '2', '--parallel', '2', '--max-epochs', '1']);
    const durations: number[] = [];
    for (const { name, args } of ways) {
      note(`${trialCount} trials, ${name}`);
      durations.push(await search(home, ['--trials', String(trialCount), ...args]));
    }
    const common = { suite: 'search', target: null } as const;
    const seconds = ways.map(({ name }, i) =>
      figure({ ...common, name: `${trialCount} trials, ${name}`, value: durations[i], unit: 's', better: 'lower' }),
    );
    const gains = ways.slice(1).map(({ name }, i) =>
      figure({
        ...common,
        name: `${trialCount} trials, speed-up of ${name}`,
        value: durations[0] / durations[i + 1],
        unit: 'x',
        better: 'higher',
        target: name === 'two at a time' ? null : targetSpeedUp,
      }),
    );
    return [...seconds, ...gains];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** @returns seconds from the command to its end */
async function search(home: string, args: readonly string[]): Promise<number> {
  const space = ['optimizer.learningRate=log(1e-4,0.1)', 'optimizer.weightDecay=log(1e-6,0.1)'];
  const options = ['--sampler', 'random', ...space.flatMap((parameter) => ['--search', parameter]), '--quiet'];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [tutti, 'search', project, ...options, '--set', 'devices=cpu:0,1', ...args], {
    env: { ...process.env, TUTTI_HOME: home, TUTTI_TRUST: join(import.meta.dirname, '..', '..') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('exit', resolve);
    child.on('error', reject);
  });
  if (code !== 0) throw new Error(`tutti search ${args.join(' ')} ended with exit code ${code}.`);
  return (performance.now() - startedMs) / 1000;
}

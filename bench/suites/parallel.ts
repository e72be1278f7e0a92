import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runTrainCommand } from '../command.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'blobs');
const bareProducts = join(import.meta.dirname, '..', 'bare-products.ts');
const pairs = 3;
/**
 * A step takes some milliseconds, and there are so many that the start-up, which more cores do not speed up, is a small
 * part.
 */
const size = ['--width', '512', '--max-epochs', '30'];

/**
 * Two members at the same time on two cores, compared with one after the other on one core: whole commands, in
 * alternation.
 */
export const suite: Suite = {
  name: 'parallel',
  async run(note) {
    await runTrainCommand([project, '--max-epochs', '1']);
    const parallelMs: number[] = [];
    const sequentialMs: number[] = [];
    const bareGains: number[] = [];
    for (let pair = 1; pair <= pairs; pair++) {
      note(`pair ${pair} of ${pairs}`);
      parallelMs.push((await runTrainCommand([project, ...size, '--devices', 'cpu:0,1'])).durationMs);
      sequentialMs.push(
        (await runTrainCommand([project, ...size, '--devices', 'cpu:0', '--placement', 'waves'])).durationMs,
      );
      bareGains.push(await gainOfBareProcesses());
    }
    const peer = { name: 'two processes that only multiply matrices, x', value: median(bareGains) };
    const speedup = median(sequentialMs.map((duration, pair) => duration / parallelMs[pair]));
    return [
      seconds('two members at the same time', parallelMs),
      seconds('two members one after the other', sequentialMs),
      figure({ suite: 'parallel', name: 'speed-up', value: speedup, unit: 'x', better: 'higher', target: 1.8, peer }),
    ];
  },
};

/** The gain of two processes that share nothing, each on one core: the upper bound of this machine. */
async function gainOfBareProcesses(): Promise<number> {
  const alone = await multiplyOn(0);
  const together = await Promise.all([multiplyOn(0), multiplyOn(1)]);
  return (together[0] + together[1]) / alone;
}

async function multiplyOn(core: number): Promise<number> {
  const { stdout } = await promisify(execFile)('taskset', ['-c', String(core), process.execPath, bareProducts]);
  return Number(stdout);
}

function seconds(name: string, durationsMs: readonly number[]): Figure {
  const value = median(durationsMs) / 1000;
  return figure({ suite: 'parallel', name: `${name}, median`, value, unit: 's', better: 'lower', target: null });
}

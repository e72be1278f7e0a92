import { join } from 'node:path';
import { z } from 'zod';
import { type CommandRun, runTrainCommand } from '../command.ts';
import { figure, median, type Suite } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'network');
const pairs = 3;
const progressSchema = z.looseObject({ rank: z.int(), samplesPerSecond: z.number() });

const train = async (...args: string[]): Promise<CommandRun> => await runTrainCommand([project, ...args]);

/** What training one model on two cores costs and gains: each figure is a median of ratios within pairs of runs. */
export const suite: Suite = {
  name: 'strategies',
  async run(note) {
    await train('--max-steps', '2');
    const speedups: number[] = [];
    const shares: number[] = [];
    for (let pair = 1; pair <= pairs; pair++) {
      note(`pair ${pair} of ${pairs}`);
      speedups.push(await dataParallelSpeedup());
      shares.push(await averagingShare());
    }
    return [
      figure({
        suite: 'strategies',
        name: 'data-parallel on two cores against one core, samples per second',
        value: median(speedups),
        unit: 'x',
        better: 'higher',
        target: 1.7,
      }),
      figure({
        suite: 'strategies',
        name: "HDET's averaging at T = 1000, share of the time",
        value: median(shares) * 100,
        unit: '%',
        better: 'lower',
        target: 0.1,
      }),
    ];
  },
};

async function dataParallelSpeedup(): Promise<number> {
  const one = await train('--members', '1', '--devices', 'cpu:0');
  const two = await train('--members', '2', '--devices', 'cpu:0,1', '--strategy', 'data-parallel');
  return throughput(two) / throughput(one);
}

/**
 * The share follows from a run that averages at every step and one that never does, (t₁ − t₀) / (1000 · t₀): one averaging in a
 * thousand steps is far below what two runs differ by.
 */
async function averagingShare(): Promise<number> {
  const hdet = (averageEverySteps: string): Promise<CommandRun> =>
    train('--strategy', 'hdet', '--strategy.adapt', 'false', '--strategy.average-every-steps', averageEverySteps);
  const always = await hdet('1');
  const never = await hdet('100000');
  return (throughput(never) / throughput(always) - 1) / 1000;
}

/** Samples per second of all ranks together, each by what it told last. */
function throughput({ lines }: CommandRun): number {
  const byRank = new Map(
    lines
      .filter(({ update }) => update.type === 'progress')
      .map(({ update }) => progressSchema.parse(update))
      .map(({ rank, samplesPerSecond }) => [rank, samplesPerSecond]),
  );
  return [...byRank.values()].reduce((sum, rate) => sum + rate, 0);
}

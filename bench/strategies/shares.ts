import { join } from 'node:path';
import { z } from 'zod';
import { type CommandRun, runTrainCommand } from '../command.ts';

const projectsFolder = join(import.meta.dirname, '..', 'projects');
const network = join(projectsFolder, 'network');
const experts = join(projectsFolder, 'experts');
const progressSchema = z.looseObject({ rank: z.int(), step: z.int() });
/** The first steps, which compile kernels and fill caches. */
const firstStep = 10;

/** Fills the cache of compiled code. */
export async function warmUp(): Promise<void> {
  for (const project of [network, experts]) await train(project, '--max-steps', '2');
}

/**
 * Additional time per step for two ways of joint training, as a fraction of the time of the same members in independent
 * training.
 */
export async function sharesOfJointTraining(): Promise<{ reduce: number; pipelined: number }> {
  const independent = await stepsPerSecond(experts);
  const joint = (mode: string) => stepsPerSecond(experts, '--strategy', 'joint', '--strategy.mode', mode);
  return {
    reduce: independent / (await joint('reduce')) - 1,
    pipelined: independent / (await joint('pipelined')) - 1,
  };
}

/**
 * Samples per second of two ranks, each with batches of 128 and one core, divided by those of one rank: with gradients
 * exchanged at each step, and without any exchange, the upper bound for two cores and their memory.
 */
export async function gainsOfTwoRanks(): Promise<{ dataParallel: number; independent: number }> {
  const one = await stepsPerSecond(network, '--members', '1', '--devices', 'cpu:0');
  const two = (...args: string[]) => stepsPerSecond(network, '--members', '2', '--devices', 'cpu:0,1', ...args);
  return {
    dataParallel: (2 * (await two('--strategy', 'data-parallel'))) / one,
    independent: (2 * (await two())) / one,
  };
}

/**
 * The share of one averaging in 1000 steps, (t₁ − t₀) / (1000 · t₀), from a run that averages at every step (t₁) and
 * one that never averages (t₀): measured directly, it would be far below the difference of two runs.
 */
export async function shareOfAveraging(): Promise<number> {
  const hdet = (averageEverySteps: string) =>
    stepsPerSecond(
      network,
      '--strategy',
      'hdet',
      '--strategy.adapt',
      'false',
      '--strategy.average-every-steps',
      averageEverySteps,
    );
  return ((await hdet('100000')) / (await hdet('1')) - 1) / 1000;
}

async function train(project: string, ...args: string[]): Promise<CommandRun> {
  return await runTrainCommand([project, ...args]);
}

/** Time of the slowest rank, without its first steps. */
async function stepsPerSecond(project: string, ...args: string[]): Promise<number> {
  const { lines } = await train(project, ...args);
  const progress = lines
    .filter(({ update }) => update.type === 'progress')
    .map(({ afterMs, update }) => ({ afterMs, ...progressSchema.parse(update) }))
    .filter(({ step }) => step >= firstStep);
  const rates = [...Map.groupBy(progress, ({ rank }) => rank).values()].map((told) => {
    const [first, last] = [told[0], told[told.length - 1]];
    return (1000 * (last.step - first.step)) / (last.afterMs - first.afterMs);
  });
  const slowest = Math.min(...rates);
  if (!Number.isFinite(slowest)) throw new Error(`${project} reported too few steps: give it more epochs.`);
  return slowest;
}

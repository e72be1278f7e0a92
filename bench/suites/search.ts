import { samplerSchema, suggest } from '../../core/studies/samplers/index.ts';
import { suggestRandom } from '../../core/studies/samplers/quasi-random.ts';
import { orderSpace, type Assignment } from '../../core/studies/space/space.ts';
import type { Trial } from '../../core/studies/trial.ts';
import { figure, median, type Suite } from '../figures.ts';
import { timeTrials } from '../studies/time-trials.ts';

const trialCount = 2000;
const space = orderSpace({
  weightDecay: { kind: 'log', low: 1e-5, high: 30 },
  learningRate: { kind: 'log', low: 1e-5, high: 1 },
  dropout: { kind: 'step', low: 0, high: 0.5, step: 0.1 },
  layers: { kind: 'int', low: 1, high: 8 },
  units: { kind: 'log-int', low: 16, high: 1024 },
  activation: { kind: 'choice', choices: ['relu', 'tanh', 'gelu'] },
});

/** Some smooth function with its minimum inside the space. */
function objectiveOf({ weightDecay, learningRate, dropout, layers, units, activation }: Assignment): number {
  return (
    Math.log10(Number(weightDecay) / 0.1) ** 2 +
    Math.log10(Number(learningRate) / 0.003) ** 2 +
    (Number(dropout) - 0.2) ** 2 +
    (Number(layers) - 3) ** 2 / 10 +
    Math.log2(Number(units) / 128) ** 2 / 10 +
    (activation === 'tanh' ? 0 : 0.3)
  );
}

/** Milliseconds of processor time for each suggestion of a study. */
function measure(multivariate: boolean): number[] {
  const sampler = samplerSchema.parse({ kind: 'tpe', multivariate });
  const trials: Trial[] = [];
  return Array.from({ length: trialCount }, (_, number) => {
    const before = process.cpuUsage().user;
    const values = suggest(sampler, { space, directions: ['minimize'], seed: 1, trials, number }) ?? {};
    const spentMs = (process.cpuUsage().user - before) / 1000;
    trials.push({ number, state: 'complete', values, objectives: [objectiveOf(values)], reports: [] });
    return spentMs;
  });
}

/** Milliseconds of processor time for a suggestion of the Gaussian process after so many trials, the median of five. */
function measureProcess(count: number): number {
  const sampler = samplerSchema.parse({ kind: 'gp' });
  const trials = Array.from({ length: count }, (_, number): Trial => {
    const values = suggestRandom({ space, directions: ['minimize'], seed: 1, trials: [], number });
    return { number, state: 'complete', values, objectives: [objectiveOf(values)], reports: [] };
  });
  const spentMs = Array.from({ length: 5 }, (_, seed) => {
    const before = process.cpuUsage().user;
    suggest(sampler, { space, directions: ['minimize'], seed, trials, number: count });
    return (process.cpuUsage().user - before) / 1000;
  });
  return median(spentMs);
}

/** How long the sampler of a study takes for a suggestion, and a study for its trials. */
export const suite: Suite = {
  name: 'search',
  async run(note) {
    const figures = [true, false].map((multivariate) => {
      const way = multivariate ? 'together' : 'one by one';
      note(`${trialCount} suggestions of TPE for 6 parameters, ${way}`);
      const spentMs = measure(multivariate);
      const mean = spentMs.reduce((sum, each) => sum + each, 0) / trialCount;
      const common = { suite: 'search', unit: 'ms', better: 'lower' } as const;
      return [
        figure({ ...common, name: `TPE suggestion, ${way}, mean of ${trialCount}`, value: mean, target: 5 }),
        figure({
          ...common,
          name: `TPE suggestion, ${way}, near the ${trialCount}th`,
          value: median(spentMs.slice(-50)),
          target: 20,
        }),
      ];
    });
    note('suggestions of the Gaussian process');
    const processes = [20, 50, 100].map((count) =>
      figure({
        suite: 'search',
        name: `GP suggestion after ${count} trials`,
        value: measureProcess(count),
        unit: 'ms',
        better: 'lower',
        target: null,
      }),
    );
    return [...figures.flat(), ...processes, ...(await timeTrials(note))];
  },
};

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { covarianceOf, logPosterior } from '../../../core/studies/samplers/gp/fit.ts';
import { matern, maternSlope, Regression } from '../../../core/studies/samplers/gp/regression.ts';
import { samplerSchema, suggest } from '../../../core/studies/samplers/index.ts';
import { checkAssignment, orderSpace } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { branin, completed, everyKind, hartmann6, regretOf, runStudy } from './functions.ts';
import { chanceOfLarger } from './rank-sum.ts';
import { regrets } from './recorded.ts';

const rows = z.array(z.array(z.number()).transform((row) => Float64Array.from(row)));
const numbers = z.array(z.number()).transform((row) => Float64Array.from(row));
const processes = z
  .array(
    z.object({
      precisions: numbers,
      scale: z.number(),
      noise: z.number(),
      points: rows,
      targets: numbers,
      asked: rows,
      means: numbers,
      variances: numbers,
      logLikelihood: z.number(),
    }),
  )
  .parse(readGolden('search/processes.json'));
const gp = samplerSchema.parse({ kind: 'gp' });

describe.each(processes.map((recorded, index) => ({ index, ...recorded })))(
  'process $index agrees with scikit-learn',
  ({ points, targets, precisions, scale, noise, asked, means, variances, logLikelihood }) => {
    const choices = [...precisions].map(() => false);
    const regression = new Regression(points, targets, choices, { precisions, scale, noise });

    it('in predictions, and its gradients are those of the predictions', () => {
      for (const [index, point] of asked.entries()) {
        const { mean, variance, meanGradient, varianceGradient } = regression.predictWithGradients(point);
        expect(mean).toBeCloseTo(means[index], 9);
        expect(variance).toBeCloseTo(variances[index], 9);
        for (const dimension of choices.keys()) {
          const [before, after] = [-1e-5, 1e-5].map((move) =>
            regression.predict(point.with(dimension, point[dimension] + move)),
          );
          expect(meanGradient[dimension]).toBeCloseTo((after.mean - before.mean) / 2e-5, 4);
          expect(varianceGradient[dimension]).toBeCloseTo((after.variance - before.variance) / 2e-5, 4);
        }
      }
    });

    it('in the likelihood, and the gradient of the posterior is that of its value', () => {
      const logs = Float64Array.of(...precisions.map(Math.log), Math.log(scale), Math.log(noise - 1e-6));
      const evaluate = logPosterior(points, targets, choices);
      const priors = precisions.reduce((sum, precision) => sum - 0.1 / precision - 0.1 * precision, 0);
      const { value, gradient } = evaluate(logs);
      expect(-value).toBeCloseTo(
        logLikelihood + priors + Math.log(scale) - scale + 0.1 * Math.log(noise) - 30 * noise,
        6,
      );
      expect(covarianceOf(logs).noise).toBeCloseTo(noise, 12);
      for (const index of logs.keys()) {
        const [before, after] = [-1e-5, 1e-5].map((move) => evaluate(logs.with(index, logs[index] + move)).value);
        expect(gradient[index] / Math.max(1, Math.abs(gradient[index]))).toBeCloseTo(
          (after - before) / 2e-5 / Math.max(1, Math.abs(gradient[index])),
          4,
        );
      }
    });
  },
);

it("Matérn's function is 1 at 0, and falls with its slope", () => {
  expect(matern(0)).toBe(1);
  expect(matern(1)).toBeCloseTo((1 + Math.sqrt(5) + 5 / 3) * Math.exp(-Math.sqrt(5)), 15);
  expect(maternSlope(0.7)).toBeCloseTo((matern(0.70001) - matern(0.69999)) / 2e-5, 8);
});

it('a singular covariance is refused with its remedy', () => {
  const point = Float64Array.of(0.5);
  const covariance = { precisions: Float64Array.of(1), scale: 1, noise: 0 };
  expect(() => new Regression([point, point], Float64Array.of(1, 1), [false], covariance)).toThrow(
    'singular at a noise of 0: raise',
  );
});

describe('the sampler', () => {
  it.each([
    ['branin', branin],
    ['hartmann6', hartmann6],
  ] as const)('minimizes %s no worse than Optuna', (name, task) => {
    const recorded = regrets.find((one) => one.function === name && one.sampler === 'gp');
    const found = Array.from({ length: 12 }, (_, seed) =>
      regretOf(runStudy(gp, task, seed, recorded?.trials ?? 0), task),
    );
    expect(chanceOfLarger(found, recorded?.regrets ?? [])).toBeGreaterThan(0.05);
  });

  it('draws valid values of every kind, with conditions and running trials, the same for the same trials', () => {
    const space = orderSpace({
      kind: { kind: 'choice', choices: ['sgd', 'adam'] },
      rate: { kind: 'log', low: 1e-4, high: 1 },
      momentum: { kind: 'float', low: 0, high: 1, when: { path: 'kind', equals: ['sgd'] } },
      nesterov: { kind: 'choice', choices: [true, false], when: { path: 'kind', equals: ['sgd'] } },
    });
    for (const task of [space, everyKind]) {
      const trials = runStudy(
        gp,
        { space: task, minimum: 0, value: ({ rate }) => Math.log(Number(rate) / 0.01) ** 2 },
        5,
        16,
      );
      for (const { values } of trials) expect(() => checkAssignment(task, values)).not.toThrow();
      const running: Trial = { ...trials[15], state: 'running', objectives: null };
      const question = {
        space: task,
        directions: ['minimize' as const],
        seed: 5,
        trials: [...trials.slice(0, 15), running],
        number: 16,
      };
      const suggested = suggest(gp, question);
      expect(suggest(gp, { ...question, trials: question.trials.toReversed() })).toEqual(suggested);
      expect(suggested).not.toEqual(running.values);
    }
  });

  const line = orderSpace({ x: { kind: 'float', low: 0, high: 1 } });
  const onLine = (offset: number, others: Trial[] = []): number => {
    const trials = Array.from({ length: 12 }, (_, number) => {
      const x = number / 11;
      return completed(number, { x }, Math.sin(40 * x) + offset);
    });
    const question = { space: line, directions: ['minimize' as const], seed: 3, trials: [...trials, ...others] };
    return Number(suggest(gp, { ...question, number: 20 })?.x);
  };

  it('does not depend on where the losses have their zero', () => {
    expect(onLine(1e5)).toBeCloseTo(onLine(0), 4);
  });

  it('keeps away from running trials, with the value that it expects of them', () => {
    const alone = onLine(0);
    const running = [-1, 1].map((side, index): Trial => ({
      ...completed(12 + index, { x: alone + side * 1e-4 }, 0),
      state: 'running',
      objectives: null,
    }));
    expect(Math.abs(onLine(0, running) - alone)).toBeGreaterThan(0.01);
  });

  it('scalarizes several objectives, and survives infinite and equal losses', () => {
    const trials = Array.from({ length: 12 }, (_, number): Trial => ({
      ...completed(number, { x: number - 5, y: number }, 0),
      objectives: [number === 3 ? Infinity : 1, number],
    }));
    const question = {
      space: branin.space,
      directions: ['minimize' as const, 'maximize' as const],
      seed: 1,
      trials,
      number: 12,
    };
    expect(() => checkAssignment(branin.space, suggest(gp, question) ?? {})).not.toThrow();
  });
});

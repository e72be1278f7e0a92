import { describe, expect, it } from 'vitest';
import { combineMembers } from '../../../core/ensemble/combine-members.ts';
import type { MemberOutputStack } from '../../../core/ensemble/predictions.ts';
import { combinations } from '../../../core/metrics/combination.ts';
import { combinationOf } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { taskKinds } from '../../../core/metrics/registry/metric.ts';
import { choicesFor } from '../../../src-renderer/views/run/ensemble/fitted.ts';
import { describeFit } from '../../../core/postprocessing/describe.ts';
import { fitPostprocessing } from '../../../core/postprocessing/fit.ts';
import type { HeldOut } from '../../../core/postprocessing/held-out.ts';
import { measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import { Generator } from '../../../core/random/generator.ts';
import { calibratedSet } from './recorded-file.ts';

const [N, M, K] = [400, 3, 4];

/**
 * Members whose product is right where single members are very sure and wrong: each member's logits are the true ones
 * plus noise of its own, which the mean of logits averages out and the mean of probabilities does not.
 */
function drawClasses(seed: number): { logits: Float32Array; targets: Int32Array } {
  const generator = new Generator(seed, 'products');
  const normal = (): number => generator.normal();
  const truth = Float64Array.from({ length: N * K }, () => 2 * normal());
  const logits = Float32Array.from({ length: M * N * K }, (_, i) => truth[i % (N * K)] + 4 * normal());
  const targets = Int32Array.from({ length: N }, (_, n) => {
    const row = truth.subarray(n * K, (n + 1) * K);
    return row.indexOf(Math.max(...row));
  });
  return { logits, targets };
}

const { logits, targets } = drawClasses(5);
const samples: HeldOut = {
  kind: 'classes',
  combination: 'product',
  stack: { members: M, samples: N, classes: K, logits },
  targets,
};
const stack: MemberOutputStack = { kind: 'logits', members: M, samples: N, width: K, values: [logits] };
const joint = { task: 'classification', combination: 'product' } as const;
const argmax = (row: Float64Array): number => row.indexOf(Math.max(...row));
const errorOf = (mean: Float64Array): number =>
  targets.reduce((wrong, target, n) => wrong + Number(argmax(mean.subarray(n * K, (n + 1) * K)) !== target), 0) / N;

describe('what is fitted on members that answer by their product', () => {
  const request = { ...usualRequest, calibrationShare: 1, conformal: 'thr', alpha: 0.2, risk: 0.3 } as const;
  const plain = combineMembers(stack, joint);

  it('never replaces the product by the mean: a temperature changes no decision', () => {
    expect(errorOf(combineMembers(stack, { ...joint, combination: 'mean' }).mean)).toBeGreaterThan(errorOf(plain.mean));
    const fitted = fitPostprocessing({ ...request, risk: null }, samples, 1);
    expect(fitted.combination).toBe('product');
    expect(describeFit({ ...calibratedSet, ...fitted })).toMatch(/^on the members' product, temperature/);
    const found = combineMembers(stack, { ...joint, postprocessing: fitted });
    expect(errorOf(found.mean)).toBe(errorOf(plain.mean));
    if (fitted.calibration?.method !== 'pooled-temperature') throw new Error(fitted.calibration?.method);
    // softmax(z̄ / T) of the mean logits z̄, for the first sample.
    const { temperature } = fitted.calibration;
    const mean = Float64Array.from(
      { length: K },
      (_, k) => (logits[k] + logits[N * K + k] + logits[2 * N * K + k]) / M,
    );
    const powers = mean.map((z) => Math.exp(z / temperature));
    const sum = powers.reduce((total, power) => total + power);
    expect([...found.mean.subarray(0, K)]).toEqual([...powers].map((power) => expect.closeTo(power / sum, 5)));
  });

  it.each(['none', 'pooled-temperature', 'vector', 'dirichlet', 'isotonic'] as const)(
    'has sets for the answers, and a risk that is theirs (%s)',
    (method) => {
      const fitted = fitPostprocessing({ ...request, method }, samples, 1);
      const found = combineMembers(stack, { ...joint, postprocessing: fitted });
      if (found.kind !== 'classes' || found.sets === null || found.judgement?.isWithheld == null) throw new Error();
      // The most probable class is in every set that has a class.
      const { sets, labels, judgement } = found;
      const outside = [...labels].filter((label, n) => {
        const own = sets.subarray(n * K, (n + 1) * K);
        return own.includes(1) && own[label] === 0;
      });
      expect(outside).toEqual([]);
      const covered = [...targets].filter((target, n) => sets[n * K + target] === 1).length / N;
      expect(covered).toBeGreaterThanOrEqual(0.8);
      const answered = [...targets.keys()].filter((n) => judgement.isWithheld?.[n] === 0);
      const wrong = answered.filter((n) => labels[n] !== targets[n]).length;
      expect(wrong / answered.length).toBeCloseTo(fitted.selective?.risk ?? NaN, 12);
      // Before is the plain product, as the run reports it.
      const measured = measurePostprocessing(fitted, samples);
      expect(measured.calibration?.before.acc).toBeCloseTo(1 - errorOf(plain.mean), 12);
      expect(measured.conformal?.coverage).toBeCloseTo(covered, 12);
    },
  );

  it('refuses temperatures before averaging, and offers none', () => {
    const offered = choicesFor('classification', 'product').methods;
    expect(offered).toEqual(['pooled-temperature', 'vector', 'dirichlet', 'isotonic']);
    expect(choicesFor('classification', 'mean').methods).toContain('joint-temperatures');
    for (const method of ['shared-temperature', 'member-temperatures', 'joint-temperatures'] as const) {
      expect(() => fitPostprocessing({ ...request, method }, samples, 1)).toThrow('ask for pooled-temperature');
    }
  });

  it('fits labels on the mean logits', () => {
    // Mean logits ±2 with three of four right: σ(2 / T) = 3/4, but for the ten samples of the prior, which expect σ(2).
    // Members are at ±6 and ∓2.
    const repeat = (...own: number[]): number[] => Array.from({ length: 100 }, () => own).flat();
    const values = Float32Array.from([...repeat(6, 6, -6, -6), ...repeat(-2, -2, 2, 2)]);
    const states: HeldOut = {
      kind: 'labels',
      combination: 'product',
      stack: { members: 2, samples: 400, classes: 1, logits: values },
      targets: repeat(1, 1, 0, 1),
    };
    const fitted = fitPostprocessing(
      { ...request, method: 'label-temperature', conformal: 'none', risk: null },
      states,
      1,
    );
    if (fitted.calibration?.method !== 'labels') throw new Error(fitted.calibration?.method);
    const right = (0.75 + 0.025 / (1 + Math.exp(-2))) / 1.025;
    expect(fitted.calibration.scale[0]).toBeCloseTo(Math.log(right / (1 - right)) / 2, 5);
  });

  it('scales the deviations of counts from the rate of the product', () => {
    // Rates 2 and 8: the product has the rate and variance 4. Targets 4 ± 4: squares of 16 / 4, beside those of 1 of
    // the prior's ten samples, give the scale √((2 · 4 + 10) / 12).
    const rates = { members: 2, samples: 2, values: Float32Array.of(2, 2, 8, 8) };
    const counts: HeldOut = {
      kind: 'values',
      combination: 'product',
      means: rates,
      variances: rates,
      areCounts: true,
      columns: 1,
      levels: null,
      targets: [8, 0],
    };
    const fitted = fitPostprocessing({ ...request, method: 'sigma', conformal: 'none', risk: null }, counts, 1);
    expect(fitted.calibration).toEqual({ method: 'sigma', scales: [expect.closeTo(Math.sqrt(1.5), 6)] });
    // As one Gaussian with mean 4 and variance 4 before, 6 after.
    const { calibration } = measurePostprocessing(fitted, counts);
    expect(calibration?.after.gaussian_nll).toBeCloseTo(0.5 * Math.log(2 * Math.PI * 6) + 8 / 6, 6);
  });
});

describe('how members combine', () => {
  it('is known for every task and combination', () => {
    const joint = Object.fromEntries(taskKinds.map((task) => [task, combinationOf({ kind: 'joint' }, task)]));
    expect(joint).toEqual({
      classification: 'product',
      binary: 'product',
      'multi-label': 'product',
      'poisson-regression': 'product',
      regression: 'mean',
      // Joint training refuses these.
      ordinal: 'mean',
      'heteroscedastic-regression': 'mean',
      'quantile-regression': 'mean',
    });
    for (const task of taskKinds) expect(combinationOf({ kind: 'coupled' }, task)).toBe('mean');
    expect(combinations).toEqual(['mean', 'product']);
  });
});

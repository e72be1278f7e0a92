import { describe, expect, it } from 'vitest';
import { allTensors } from '../../../core/ensemble/tensors.ts';
import { combineMembers } from '../../../core/ensemble/combine-members.ts';

const mean = 'mean' as const;

describe('what an ensemble predicts of its members', () => {
  it('averages probabilities, with entropy and mutual information', () => {
    // Members give class 0 with probability 3/4 and 1/4: log 3 and −log 3 as differences of logits.
    const values = [Float32Array.of(Math.log(3), 0, 0, Math.log(3))];
    const stack = { kind: 'logits' as const, members: 2, samples: 1, width: 2, values };
    const found = combineMembers(stack, { task: 'classification', combination: mean });
    if (found.kind !== 'classes') throw new Error(found.kind);
    expect([...found.members]).toEqual([0.75, 0.25, 0.25, 0.75].map((p) => expect.closeTo(p, 6)));
    expect([...found.mean]).toEqual([expect.closeTo(0.5, 6), expect.closeTo(0.5, 6)]);
    expect(found.entropy[0]).toBeCloseTo(Math.log(2), 6);
    const ofMember = -0.75 * Math.log(0.75) - 0.25 * Math.log(0.25);
    expect(found.mutualInformation[0]).toBeCloseTo(Math.log(2) - ofMember, 6);
  });

  it('takes temperatures before averaging for a part of the members', () => {
    // A temperature of 2 turns log 9 into log 3: the probabilities of the case above.
    const values = [Float32Array.of(Math.log(9), 0, 0, Math.log(9))];
    const stack = { kind: 'logits' as const, members: 2, samples: 1, width: 2, values };
    const calibration = { method: 'temperature' as const, fit: 'shared' as const, temperatures: [2, 2] };
    const postprocessing = { calibration, conformal: null, outside: null, selective: null };
    const found = combineMembers(stack, { task: 'classification', combination: mean, postprocessing });
    if (found.kind !== 'classes') throw new Error(found.kind);
    expect([...found.members]).toEqual([0.75, 0.25, 0.25, 0.75].map((p) => expect.closeTo(p, 6)));
    const ofMember = -0.75 * Math.log(0.75) - 0.25 * Math.log(0.25);
    expect(found.mutualInformation[0]).toBeCloseTo(Math.log(2) - ofMember, 6);
  });

  it('multiplies the probabilities of jointly trained members', () => {
    // 3/4 · 3/4 against 1/4 · 1/4, of which the geometric mean is 3/4 against 1/4.
    const values = [Float32Array.of(Math.log(9), 0, 0, 0)];
    const stack = { kind: 'logits' as const, members: 2, samples: 1, width: 2, values };
    const found = combineMembers(stack, { task: 'classification', combination: 'product' });
    expect([...found.mean]).toEqual([expect.closeTo(0.75, 6), expect.closeTo(0.25, 6)]);
  });

  it('answers for labels of jointly trained members by their product, calibrated or not', () => {
    // The means of the logits are 2 and −1, those of the probabilities (σ(5) + σ(−1)) / 2 and (σ(−3) + σ(1)) / 2.
    const values = [Float32Array.of(5, -3, -1, 1)];
    const stack = { kind: 'label-logits' as const, members: 2, samples: 1, width: 2, values };
    const joint = { task: 'multi-label', combination: 'product' } as const;
    const found = combineMembers(stack, joint);
    if (found.kind !== 'labels') throw new Error(found.kind);
    const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
    expect([...found.mean]).toEqual([2, -1].map((z) => expect.closeTo(sigmoid(z), 12)));
    const [p] = [sigmoid(2)];
    expect(found.entropy[0]).toBeCloseTo(-p * Math.log(p) - (1 - p) * Math.log(1 - p), 12);
    // How much the members differ is not a matter of what answers: H(mean of probabilities) − mean of their entropies.
    const ofMean = combineMembers(stack, { ...joint, combination: mean });
    expect(ofMean.kind === 'labels' && ofMean.mutualInformation).toEqual(found.mutualInformation);
    const calibration = { method: 'labels' as const, fit: 'platt' as const, scale: [0.5, 2], bias: [1, 0] };
    const postprocessing = {
      combination: 'product' as const,
      calibration,
      conformal: null,
      outside: null,
      selective: null,
    };
    const calibrated = combineMembers(stack, { ...joint, postprocessing });
    expect([...calibrated.mean]).toEqual([2, -2].map((z) => expect.closeTo(sigmoid(z), 6)));
  });

  it('answers for counts of jointly trained members by one Poisson distribution, whose variance is its rate', () => {
    // The geometric mean of the rates 2 and 8 is 4; their deviation around their mean 5 is 3.
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 1, values: [Float32Array.of(2, 8)] };
    const found = combineMembers(stack, { task: 'poisson-regression', combination: 'product' });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect([found.mean[0], found.aleatoric?.[0], found.standardDeviation[0]]).toEqual(
      [4, 2, 2].map((value) => expect.closeTo(value, 12)),
    );
    expect(found.epistemic[0]).toBeCloseTo(3, 12);
    const calibration = { method: 'sigma' as const, scales: [3] };
    const conformal = {
      kind: 'intervals' as const,
      method: 'sigma-scaled' as const,
      alpha: 0.1,
      margins: [0.5],
      quantiles: null,
      counts: [20],
    };
    const postprocessing = { combination: 'product' as const, calibration, conformal, outside: null, selective: null };
    const fitted = combineMembers(stack, { task: 'poisson-regression', combination: 'product', postprocessing });
    // 4 ± 0.5 · 3 · √4.
    expect(fitted.kind === 'values' && fitted.standardDeviation[0]).toBeCloseTo(6, 12);
    expect(fitted.kind === 'values' && [fitted.intervals?.lower[0], fitted.intervals?.upper[0]]).toEqual(
      [1, 7].map((value) => expect.closeTo(value, 5)),
    );
  });

  it('answers for values of jointly trained members by the mean, which is their product', () => {
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 1, values: [Float32Array.of(1, 3)] };
    const [product, average] = (['product', 'mean'] as const).map((combination) =>
      combineMembers(stack, { task: 'regression', combination }),
    );
    expect(product).toEqual(average);
  });

  it('refuses a product of tasks that have none, and what was fitted on another combination', () => {
    const stack = {
      kind: 'values' as const,
      members: 2,
      samples: 1,
      width: 1,
      values: [Float32Array.of(1, 3), Float32Array.of(1, 1)],
    };
    for (const task of ['ordinal', 'heteroscedastic-regression', 'quantile-regression'] as const) {
      expect(() => combineMembers(stack, { task, combination: 'product' }), task).toThrow(
        `of the task ${task}, which has none`,
      );
    }
    const fitted = {
      calibration: { method: 'pooled-temperature' as const, temperature: 2 },
      conformal: null,
      outside: null,
      selective: null,
    };
    const classes = {
      kind: 'logits' as const,
      members: 2,
      samples: 1,
      width: 2,
      values: [Float32Array.of(1, 0, 0, 1)],
    };
    expect(() =>
      combineMembers(classes, { task: 'classification', combination: 'product', postprocessing: fitted }),
    ).toThrow('is for members that answer by their mean, but this ensemble answers by their product');
  });

  it('gives the one logit of a binary task two classes', () => {
    const stack = {
      kind: 'logits' as const,
      members: 1,
      samples: 2,
      width: 1,
      values: [Float32Array.of(Math.log(3), 0)],
    };
    const found = combineMembers(stack, { task: 'binary', combination: mean });
    expect(found.width).toBe(2);
    expect([...found.mean]).toEqual([0.25, 0.75, 0.5, 0.5].map((p) => expect.closeTo(p, 6)));
    expect(found.kind === 'classes' && [...found.labels]).toEqual([1, 0]);
  });

  it('keeps labels apart', () => {
    const values = [Float32Array.of(Math.log(3), 0, -Math.log(3), 0)];
    const stack = { kind: 'label-logits' as const, members: 2, samples: 1, width: 2, values };
    const found = combineMembers(stack, { task: 'multi-label', combination: mean });
    if (found.kind !== 'labels') throw new Error(found.kind);
    expect([...found.mean]).toEqual([expect.closeTo(0.5, 6), expect.closeTo(0.5, 6)]);
    expect([...found.entropy]).toEqual([Math.log(2), Math.log(2)].map((value) => expect.closeTo(value, 6)));
    // The members agree on the second label.
    expect(found.mutualInformation[1]).toBeCloseTo(0, 6);
    expect(found.mutualInformation[0]).toBeGreaterThan(0.1);
  });

  it('separates aleatoric from epistemic deviation, in the unit of the targets', () => {
    // Means 1 and 3, variances 1 and 7: mean 2, aleatoric √4, epistemic √1, total √5; then y = 10 + 2 x.
    const values = [Float32Array.of(1, 3), Float32Array.of(1, 7)];
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 1, values };
    const target = { kind: 'values' as const, columns: ['price'], mean: [10], std: [2] };
    const found = combineMembers(stack, { task: 'heteroscedastic-regression', combination: mean, target });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect([...found.members]).toEqual([12, 16]);
    expect([...(found.memberVariances ?? [])]).toEqual([4, 28]);
    expect([...found.mean]).toEqual([14]);
    expect(found.aleatoric?.[0]).toBeCloseTo(4, 12);
    expect(found.epistemic[0]).toBeCloseTo(2, 12);
    expect(found.standardDeviation[0]).toBeCloseTo(2 * Math.sqrt(5), 12);
  });

  it('scales all deviations by what was fitted, so that the total stays the root of the sum of their squares', () => {
    // Two targets of one sample: deviations 2, 1, √5 times 3, and √2, 2, √6 times 0.5.
    const values = [Float32Array.of(1, 0, 3, 4), Float32Array.of(1, 1, 7, 3)];
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 2, values };
    const postprocessing = {
      calibration: { method: 'sigma' as const, scales: [3, 0.5] },
      conformal: null,
      outside: null,
      selective: null,
    };
    const found = combineMembers(stack, { task: 'heteroscedastic-regression', combination: mean, postprocessing });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect([...found.mean]).toEqual([2, 2]);
    expect([...(found.aleatoric ?? [])]).toEqual([6, Math.SQRT2 / 2].map((value) => expect.closeTo(value, 6)));
    expect([...found.epistemic]).toEqual([3, 1]);
    const total = [3 * Math.sqrt(5), Math.sqrt(6) / 2].map((value) => expect.closeTo(value, 6) as number);
    expect([...found.standardDeviation]).toEqual(total);
    expect([...(found.memberVariances ?? [])]).toEqual([9, 0.25, 63, 0.75]);
    // Rates 3 and 5: the mean's root is 2, the spread 1.
    const counts = { ...stack, width: 1, values: [Float32Array.of(3, 5)] };
    const scaled = { ...postprocessing, calibration: { method: 'sigma' as const, scales: [0.5] } };
    const rates = combineMembers(counts, { task: 'poisson-regression', combination: mean, postprocessing: scaled });
    if (rates.kind !== 'values') throw new Error(rates.kind);
    expect([rates.aleatoric?.[0], rates.epistemic[0], rates.standardDeviation[0]]).toEqual([1, 0.5, Math.sqrt(5) / 2]);
  });

  it('keeps the deviation of members around a mean that is far from 0', () => {
    // Members 0.25 ± 0.001 and variances 0.01 of targets around 1e8 with the deviation 2: float32 has steps of 8 there.
    const values = [Float32Array.of(0.251, 0.249), Float32Array.of(0.01, 0.01)];
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 1, values };
    const target = { kind: 'values' as const, columns: ['price'], mean: [1e8], std: [2] };
    const found = combineMembers(stack, { task: 'heteroscedastic-regression', combination: mean, target });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect([...found.members].map((value) => value - 1e8)).toEqual([
      expect.closeTo(0.502, 6),
      expect.closeTo(0.498, 6),
    ]);
    expect(found.mean[0] - 1e8).toBeCloseTo(0.5, 6);
    expect(found.epistemic[0]).toBeCloseTo(0.002, 7);
    expect(found.aleatoric?.[0]).toBeCloseTo(0.2, 6);
    expect(found.standardDeviation[0]).toBeCloseTo(Math.hypot(0.2, 0.002), 6);
    const served = allTensors(found, { classNames: null, outputs: [] }).find(({ name }) => name === 'members');
    expect(served).toMatchObject({ datatype: 'FP64', values: found.members });
    const quantiles = combineMembers(
      { ...stack, width: 2, members: 1, values: [values[0]] },
      { task: 'quantile-regression', combination: mean, target },
    );
    expect([...quantiles.mean].map((value) => value - 1e8)).toEqual([
      expect.closeTo(0.502, 6),
      expect.closeTo(0.498, 6),
    ]);
  });

  it('has no member of infinite variance where the deviation is large', () => {
    // 1e25² is beyond float32.
    const values = [Float32Array.of(0), Float32Array.of(4)];
    const stack = { kind: 'values' as const, members: 1, samples: 1, width: 1, values };
    const target = { kind: 'values' as const, columns: ['y'], mean: [0], std: [1e25] };
    const found = combineMembers(stack, { task: 'heteroscedastic-regression', combination: mean, target });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect(found.memberVariances?.[0]).toBeCloseTo(4e50, -44);
    expect((found.aleatoric?.[0] ?? 0) / 2e25).toBeCloseTo(1, 12);
  });

  it('takes a rate as the variance of a count', () => {
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 1, values: [Float32Array.of(3, 5)] };
    const found = combineMembers(stack, { task: 'poisson-regression', combination: mean });
    if (found.kind !== 'values') throw new Error(found.kind);
    expect([found.mean[0], found.aleatoric?.[0], found.epistemic[0]]).toEqual([4, 2, 1]);
  });

  it('averages quantiles', () => {
    const stack = { kind: 'values' as const, members: 2, samples: 1, width: 2, values: [Float32Array.of(1, 5, 3, 9)] };
    const target = { kind: 'values' as const, columns: ['y'], mean: [1], std: [10] };
    const found = combineMembers(stack, { task: 'quantile-regression', combination: mean, target });
    expect([...found.mean]).toEqual([21, 71]);
    expect(found.kind === 'quantiles' && [...found.epistemic]).toEqual([10, 20]);
  });
});

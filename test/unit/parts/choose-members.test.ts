import { describe, expect, it } from 'vitest';
import { architectureDifference, averageWeights } from '../../../workers/parts/candidates.ts';
import { chooseMembers, chooseWithoutSamples, withoutCommonFactor } from '../../../workers/parts/choose-members.ts';
import { criterionOf } from '../../../workers/parts/criterion.ts';
import { createDataset } from '../../../workers/data/index.ts';

function expectClose(found: ArrayLike<number>, expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((value, i) => expect(found[i]).toBeCloseTo(value, 6));
}

const logarithms = (...rows: number[][]) => rows.map((row) => Float64Array.from(row, Math.log));
const usual = { rounds: 25, tolerance: 0, count: 3, samples: 2, trajectories: [[0, 2], [1]], innerMembers: [2, 1, 3] };
const dataset = createDataset({
  name: 'values',
  featureShape: [1],
  features: Float32Array.of(0, 0),
  targets: Float32Array.of(1, 3),
});
const values = (...outputs: number[][]) => ({
  kind: 'values' as const,
  samples: 2,
  width: outputs[0].length / 2,
  values: outputs.map((output) => Float32Array.from(output)),
});
const criterion = criterionOf([values([0, 0])], dataset, 'regression', []);
const ofMean = () => Promise.reject(new Error('No weights are averaged.'));

describe('members of an ensemble from parts', () => {
  it('repeat as often as their weights need', () => {
    expect(withoutCommonFactor([4, 1, 4, 4, 1, 4])).toEqual([4, 4, 1]);
    expect(withoutCommonFactor([2, 2, 2])).toEqual([2]);
    expect(withoutCommonFactor([0, 1, 0])).toEqual([0, 0, 1]);
  });

  it('are chosen greedily, with the NLL after each', async () => {
    const samples = { criterion, rows: logarithms([0.9, 0.4], [0.4, 0.9], [0.5, 0.5]), ofMean };
    const { members, path } = await chooseMembers({ ...usual, method: 'greedy' }, samples);
    expect(members).toEqual([[0], [1]]);
    expect(path.map(({ candidate }) => candidate)).toEqual([0, 1]);
    expect(path[1].loss).toBeCloseTo(-Math.log(0.65), 12);
    const smallest = await chooseMembers({ ...usual, method: 'smallest' }, samples);
    expect(smallest.members).toEqual([[0], [1]]);
  });

  it('are all, or their mean, without a look at samples', () => {
    expect(chooseWithoutSamples({ ...usual, method: 'snapshots' })?.members).toEqual([[0], [1], [2]]);
    expect(chooseWithoutSamples({ ...usual, method: 'soup' })?.members).toEqual([[0, 1, 2]]);
    expect(chooseWithoutSamples({ ...usual, method: 'greedy' })).toBeNull();
  });

  it('are drawn for each trajectory, or each candidate', () => {
    const drawn = [[0, 2], [0, 2], [1], [1]];
    expect(chooseWithoutSamples({ ...usual, method: 'swag' })?.members).toEqual(drawn);
    const draws = chooseWithoutSamples({ ...usual, method: 'mc-dropout' });
    expect(draws?.members).toEqual([[0], [0], [1], [1], [2], [2]]);
    const inner = chooseWithoutSamples({ ...usual, method: 'unroll' });
    expect(inner?.members).toEqual([[0], [0], [1], [2], [2], [2]]);
  });

  it('are averaged as long as the NLL does not rise', async () => {
    const nlls: Record<string, number> = { '1,0': 0.4, '1,0,2': 0.45 };
    const { members, path } = await chooseMembers(
      { ...usual, method: 'greedy-soup' },
      {
        criterion,
        rows: logarithms([0.6], [0.65], [0.5]),
        ofMean: (candidates) => Promise.resolve(Float64Array.of(-nlls[candidates.join()])),
      },
    );
    expect(members).toEqual([[1, 0]]);
    expect(path[1]).toEqual({ candidate: 0, loss: 0.4 });
  });
});

it('weights are averaged by name', () => {
  const tensor = (name: string, ...data: number[]) => ({
    name,
    dtype: 'F32' as const,
    shape: [data.length],
    data: Float32Array.from(data),
  });
  const [kernel, bias] = averageWeights([
    [tensor('kernel', 1, 2), tensor('bias', 0)],
    [tensor('bias', 3), tensor('kernel', 3, -2)],
  ]);
  expect([kernel.name, ...(kernel.data as Float32Array)]).toEqual(['kernel', 2, 0]);
  expect([bias.name, ...(bias.data as Float32Array)]).toEqual(['bias', 1.5]);
});

it('architectures are the same whatever their weights began with', () => {
  const layer = (units: number, seed: number) =>
    JSON.stringify({ config: { units, kernel_initializer: { config: { seed } }, seed } });
  expect(architectureDifference(layer(2, 1), layer(2, 5))).toBeNull();
  expect(architectureDifference(layer(2, 1), layer(3, 1))).toContain('units is 3, it was 2');
});

describe('what candidates are chosen by', () => {
  it('are densities with the predicted variance, or the least mean squared error', () => {
    // Errors 1 and 1, and 0 and 3: the mean squared error of the first is 1.
    const candidates = [values([0, 2]), values([1, 0])];
    const likelihoods = criterionOf(candidates, dataset, 'regression', []).rowOf;
    const half = 0.5 * Math.log(2 * Math.PI);
    expect([...likelihoods(candidates[0])]).toEqual([-half - 0.5, -half - 0.5]);
    expect([...likelihoods(candidates[1])]).toEqual([-half, -half - 4.5]);
    const own = values([0, 2], [1, 4]);
    const predicted = criterionOf([own], dataset, 'heteroscedastic-regression', []).rowOf(own);
    expect(predicted[1]).toBeCloseTo(-half - Math.log(2) - 1 / 8, 12);
  });

  it('is the probability of each label that counts', () => {
    const labels = createDataset({
      name: 'labels',
      featureShape: [1],
      features: Float32Array.of(0, 0),
      targets: Float32Array.of(1, 0, 1, 1),
      mask: Uint8Array.of(1, 1, 0, 1),
    });
    // The logit log 3 has the probability 3/4.
    const logits = { ...values([Math.log(3), Math.log(3), 5, 0]), kind: 'label-logits' as const };
    const { name, rowOf, lossOf } = criterionOf([logits], labels, 'multi-label', []);
    expect(name).toBe('nll');
    expectClose(rowOf(logits), [0.75, 0.25, 0.5].map(Math.log));
    // The ensemble of it and of one with the opposite logits: 1/2 for each label.
    const opposite = { ...logits, values: [logits.values[0].map((logit) => -logit)] };
    expect(lossOf([rowOf(logits), rowOf(opposite)])).toBeCloseTo(Math.log(2), 6);
  });

  it('is the probability of counts', () => {
    const rates = values([2, 3]);
    const { rowOf } = criterionOf([rates], dataset, 'poisson-regression', []);
    expectClose(rowOf(rates), [2 * Math.exp(-2), (27 / 6) * Math.exp(-3)].map(Math.log));
  });

  it('is the pinball loss of the mean quantiles', () => {
    const levels = [0.25, 0.75];
    // Alone, each misses one target: errors of ±1 at both levels, then 0.
    const candidates = [values([0, 2, 3, 3]), values([1, 1, 2, 4]), values([9, 9, 9, 9])];
    const { name, rowOf, lossOf, greedily, smallest } = criterionOf(candidates, dataset, 'quantile-regression', levels);
    const rows = candidates.map(rowOf);
    expect(name).toBe('pinball');
    // Errors 1 (below the level 0.25) and -1 (above 0.75): 0.25 each, of four values.
    expect(lossOf([rows[0]])).toBeCloseTo(0.5 / 4, 12);
    expect(lossOf([rows[0], rows[1]])).toBeCloseTo((4 * 0.5 * 0.25) / 4, 12);
    expect(greedily(rows, 5)).toEqual({ chosen: [0], losses: [0.125] });
    expect(smallest(rows, 0)).toHaveLength(1);
  });
});

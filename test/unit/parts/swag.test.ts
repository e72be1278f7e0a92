import { beforeAll, describe, expect, it } from 'vitest';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/index.ts';
import { computeRunningStatistics, isRunningStatistic } from '../../../workers/parts/running-statistics.ts';
import { noiseOf, sampleWeights, Trajectory } from '../../../workers/parts/swag.ts';
import { Generator } from '../../../workers/random/index.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';

type Tensors = Record<string, number[]>;

interface Recorded {
  shapes: Record<string, number[]>;
  columns: number;
  trajectory: Tensors[];
  mean: Tensors;
  variance: Tensors;
  deviations: Tensors[];
  z1: number[];
  z2: number[];
  sample: Tensors;
  statistics: { inputs: number[][]; mean: number[]; variance: number[] };
}

const recorded = readGolden('swag/swag.json') as Recorded;

beforeAll(() => startBackend('cpu'));

function tensorsOf(values: Tensors): NamedTensor[] {
  return Object.entries(values).map(([name, data]) => ({
    name,
    dtype: 'F32',
    shape: recorded.shapes[name] ?? [data.length],
    data: Float32Array.from(data),
  }));
}

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>, digits: number): void {
  expect(found).toHaveLength(expected.length);
  Array.from(expected).forEach((value, i) => expect(found[i]).toBeCloseTo(value, digits));
}

function recordedTrajectory() {
  const trajectory = new Trajectory(recorded.columns);
  for (const weights of recorded.trajectory) trajectory.add(tensorsOf(weights));
  return trajectory.moments();
}

describe('SWAG', () => {
  it('has the recorded moments of a trajectory', () => {
    const { tensors, columns } = recordedTrajectory();
    expect(columns).toBe(4);
    for (const [name, { mean, variance, deviations }] of tensors) {
      expectClose(mean, recorded.mean[name], 12);
      expectClose(variance, recorded.variance[name], 12);
      deviations.forEach((column, k) => expectClose(column, recorded.deviations[k][name], 6));
    }
  });

  it('draws the recorded weights from the recorded noise', () => {
    const left = [...recorded.z1];
    const noise = { next: () => left.shift() ?? NaN, ofColumns: recorded.z2 };
    for (const { name, data } of sampleWeights(recordedTrajectory(), noise)) {
      expectClose(data as Float32Array, recorded.sample[name], 6);
    }
  });

  it('draws weights with half of the diagonal and half of the low-rank covariance', () => {
    const trajectory = new Trajectory(3);
    for (const weights of [
      [0, 1],
      [2, 0],
      [1, 3],
    ])
      trajectory.add(tensorsOf({ w: weights }));
    const moments = trajectory.moments();
    const count = 20_000;
    const generator = new Generator(5, 'test');
    const [sums, products] = [
      [0, 0],
      [0, 0, 0],
    ];
    for (let draw = 0; draw < count; draw++) {
      const [{ data }] = sampleWeights(moments, noiseOf(generator, moments.columns));
      const [a, b] = data as Float32Array;
      sums[0] += a / count;
      sums[1] += b / count;
      [a * a, a * b, b * b].forEach((value, i) => (products[i] += value / count));
    }
    // Means 1 and 4/3. Running means after each: (0, 1), (1, 1/2), (1, 4/3): deviations (0, 0), (1, -1/2), (0, 5/3).
    expectClose(sums, [1, 4 / 3], 1);
    const covariance = [products[0] - sums[0] ** 2, products[1] - sums[0] * sums[1], products[2] - sums[1] ** 2];
    // Variances 2/3 and 14/9, and D Dᵀ / (K - 1) = [[1, -1/2], [-1/2, 1/4 + 25/9]] / 2.
    const expected = [2 / 6 + 1 / 4, -1 / 8, 14 / 18 + (1 / 4 + 25 / 9) / 4];
    expectClose(covariance, expected, 1);
  });

  it('needs two weights and two deviations', () => {
    const trajectory = new Trajectory(20);
    trajectory.add(tensorsOf({ w: [1] }));
    expect(() => trajectory.moments()).toThrow('2 epochs or more');
  });

  it('gives the same weights for the same seed', () => {
    const draw = () => sampleWeights(recordedTrajectory(), noiseOf(new Generator(1, 'swag/0'), recorded.columns));
    expect(draw()).toEqual(draw());
  });
});

describe('running statistics', () => {
  const { inputs, mean, variance } = recorded.statistics;
  const dataset = createDataset({
    name: 'points',
    featureShape: [2],
    features: Float32Array.from(inputs.flat()),
    targets: new Float32Array(inputs.length),
  });

  function normalized() {
    const dense = tf.layers.dense({ units: 3, inputShape: [2] });
    const model = tf.sequential({ layers: [dense, tf.layers.batchNormalization({ name: 'norm' })] });
    dense.setWeights(Object.entries(recorded.sample).map(([name, data]) => tf.tensor(data, recorded.shapes[name])));
    return model;
  }

  async function computed(batchSize: number, isComputed = isRunningStatistic) {
    const model = normalized();
    const norm = model.getLayer('norm');
    norm.setWeights([tf.ones([3]), tf.zeros([3]), tf.zeros([3]), tf.zeros([3])]);
    await computeRunningStatistics(model, { dataset, batchSize, generator: new Generator(2, 'test'), isComputed });
    const [, , found, spread] = norm.getWeights().map((tensor) => tensor.dataSync());
    return { mean: found, variance: spread };
  }

  it('are those of PyTorch for a batch of all samples', async () => {
    const found = await computed(inputs.length);
    expectClose(found.mean, mean, 5);
    expectClose(found.variance, variance, 5);
  });

  it('weight each batch by its samples', async () => {
    const found = await computed(5);
    expectClose(found.mean, mean, 5);
    // The mean of the variances within batches is below the variance of all.
    found.variance.forEach((value, i) => expect(value).toBeLessThan(variance[i]));
  });

  it('stay where they were frozen', async () => {
    const found = await computed(5, () => false);
    expect([...found.mean, ...found.variance]).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { useInitializers } from '../../../workers/tensorflow/layers/initializers.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));
afterEach(() => useInitializers('corrected'));

const [inputs, units] = [300, 200];
/**
 * Variance of a standard normal distribution truncated at ±2: 1 − 2·2φ(2)/(2Φ(2) − 1), φ(2) = 0.0539909665, 2Φ(2) − 1 =
 * 0.9544997361.
 */
const truncatedVariance = 1 - (4 * 0.0539909665) / 0.9544997361;

const normal = {
  heNormal: 2 / inputs,
  leCunNormal: 1 / inputs,
  glorotNormal: 2 / (inputs + units),
} as const;

/** A dense layer's 60,000 initial weights: their variance, and the largest. */
function drawn(kernelInitializer: ReturnType<typeof tf.initializers.heNormal>) {
  const layer = tf.layers.dense({ units, inputShape: [inputs], kernelInitializer });
  const weights = [
    ...tf
      .sequential({ layers: [layer] })
      .getWeights()[0]
      .dataSync(),
  ];
  return {
    variance: weights.reduce((sum, weight) => sum + weight * weight, 0) / weights.length,
    largest: Math.max(...weights.map(Math.abs)),
  };
}

describe('normal initializers', () => {
  it.each(Object.entries(normal))('%s has the variance of its formula: %d', (name, variance) => {
    const found = drawn(tf.initializers[name as keyof typeof normal]({ seed: 5 }));
    // The estimate's standard deviation is 0.5 % (with a kurtosis of 2.4), so 2 % is four of them.
    expect(Math.abs(found.variance / variance - 1)).toBeLessThan(0.02);
    // No weight lies beyond two standard deviations of the untruncated distribution.
    expect(found.largest).toBeLessThanOrEqual((2 * Math.sqrt(variance)) / Math.sqrt(truncatedVariance) + 1e-6);
    expect(found.largest).toBeGreaterThan(2 * Math.sqrt(variance));
  });

  it('scale the variance with the options of varianceScaling: 3 / fan out', () => {
    const scaling = { scale: 3, mode: 'fanOut', distribution: 'normal', seed: 5 } as const;
    expect(Math.abs(drawn(tf.initializers.varianceScaling(scaling)).variance / (3 / units) - 1)).toBeLessThan(0.02);
  });

  it("have 0.774 of it with TensorFlow.js's rule", () => {
    useInitializers('tfjs');
    const { variance } = drawn(tf.initializers.heNormal({ seed: 5 }));
    expect(truncatedVariance).toBeCloseTo(0.7737, 4);
    expect(Math.abs(variance / (normal.heNormal * truncatedVariance) - 1)).toBeLessThan(0.02);
  });

  it('leave uniform ones and truncatedNormal unchanged: limits √(6 / fan in), variance 0.774', () => {
    const uniform = drawn(tf.initializers.heUniform({ seed: 5 }));
    expect(uniform.largest).toBeLessThanOrEqual(Math.sqrt(6 / inputs));
    expect(Math.abs(uniform.variance / normal.heNormal - 1)).toBeLessThan(0.02);
    const cut = drawn(tf.initializers.truncatedNormal({ mean: 0, stddev: 1, seed: 5 }));
    expect(Math.abs(cut.variance / truncatedVariance - 1)).toBeLessThan(0.02);
  });
});

describe('a limit or a deviation of 0 is 0, also in a model read from a file', () => {
  it.each([
    [
      'randomUniform',
      () => tf.initializers.randomUniform({ minval: 0, maxval: 1, seed: 5 }),
      { smallest: 0, largest: 1 },
    ],
    [
      'randomUniform',
      () => tf.initializers.randomUniform({ minval: -1, maxval: 0, seed: 5 }),
      { smallest: -1, largest: 0 },
    ],
    ['randomNormal', () => tf.initializers.randomNormal({ mean: 3, stddev: 0 }), { smallest: 3, largest: 3 }],
    ['truncatedNormal', () => tf.initializers.truncatedNormal({ mean: 3, stddev: 0 }), { smallest: 3, largest: 3 }],
  ])('%s', async (_, create, { smallest, largest }) => {
    const model = tf.sequential({
      layers: [tf.layers.dense({ units, inputShape: [inputs], kernelInitializer: create() })],
    });
    for (const built of [model, await tf.models.modelFromJSON(model.toJSON(null, false) as never)]) {
      const weights = await built.getWeights()[0].data();
      expect(Math.min(...weights)).toBeGreaterThanOrEqual(smallest);
      expect(Math.max(...weights)).toBeLessThanOrEqual(largest);
    }
  });
});

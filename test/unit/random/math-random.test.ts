import * as tf from '@tensorflow/tfjs-layers';
import { dropout, ones, setBackend } from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import { beforeAll, describe, expect, it } from 'vitest';
import { Generator, installAsMathRandom, withSeededMathRandom } from '../../../workers/random/index.ts';

const original = Math.random;

describe('installAsMathRandom', () => {
  it('draws from the generator until it is restored', () => {
    const expected = new Generator(1, 'weights');
    const restore = installAsMathRandom(new Generator(1, 'weights'));
    const drawn = [Math.random(), Math.random()];
    restore();
    expect(drawn).toEqual([expected.uniform(), expected.uniform()]);
    expect(Math.random).toBe(original);
  });
});

describe('withSeededMathRandom', () => {
  it("returns the body's result and restores Math.random", async () => {
    const value = await withSeededMathRandom(new Generator(1, 'weights'), async () => {
      await Promise.resolve();
      return Math.random();
    });
    expect(value).toBe(new Generator(1, 'weights').uniform());
    expect(Math.random).toBe(original);
  });

  it('restores Math.random when the body throws', async () => {
    const failing = withSeededMathRandom(new Generator(1, 'weights'), () => {
      throw new Error('no model');
    });
    await expect(failing).rejects.toThrow('no model');
    expect(Math.random).toBe(original);
  });
});

describe('TensorFlow.js', () => {
  beforeAll(async () => {
    await setBackend('cpu');
  });

  const weightsOf = (seed: number) =>
    withSeededMathRandom(new Generator(seed, 'weights'), () => {
      const model = tf.sequential({ layers: [tf.layers.dense({ units: 3, inputShape: [4] })] });
      const weights = [...model.getWeights()[0].dataSync()];
      model.dispose();
      return weights;
    });

  it('initializes the same weights from the same seed, and different ones from another', async () => {
    const weights = await weightsOf(42);
    expect(new Set(weights).size).toBe(12);
    expect(await weightsOf(42)).toEqual(weights);
    expect(await weightsOf(43)).not.toEqual(weights);
  });

  it("draws a new mask at every step with a seeded Math.random, but not with the layer's own seed", async () => {
    const mask = (seed?: number) => [...dropout(ones([64]), 0.5, undefined, seed).dataSync()];
    expect(mask(7)).toEqual(mask(7));
    const steps = () => withSeededMathRandom(new Generator(42, 'dropout'), () => [mask(), mask()]);
    const [first, second] = await steps();
    expect(second).not.toEqual(first);
    expect(await steps()).toEqual([first, second]);
  });
});

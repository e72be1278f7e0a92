import { describe, expect, it } from 'vitest';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { expectLikeDefinition } from './compare.ts';
import { sizeOf } from '../../../reference/value.ts';
import * as windows from '../../../reference/windows.ts';

const activation = (name: string) => (x: Tensor) =>
  tf.layers.activation({ activation: name as 'relu' }).apply(x) as Tensor;

/** Ops on single values: NaN in is NaN out, as in PyTorch, and other values are unaffected. */
const elementwise: Record<string, (x: Tensor) => Tensor> = {
  relu: (x) => tf.relu(x),
  relu6: (x) => tf.relu6(x),
  clipByValue: (x) => tf.clipByValue(x, -0.5, 0.5),
  leakyRelu: (x) => tf.leakyRelu(x, 0.1),
  elu: (x) => tf.elu(x),
  selu: (x) => tf.selu(x),
  prelu: (x) => tf.prelu(x, tf.scalar(0.2)),
  sigmoid: (x) => tf.sigmoid(x),
  tanh: (x) => tf.tanh(x),
  softplus: (x) => tf.softplus(x),
  step: (x) => tf.step(x),
  'maximum with a number after': (x) => tf.maximum(x, 0),
  'maximum with a number before': (x) => tf.maximum(0, x),
  'minimum with a number after': (x) => tf.minimum(x, 0),
  'minimum with a number before': (x) => tf.minimum(0, x),
  'maximum of equal shapes': (x) => tf.maximum(tf.zerosLike(x), x),
  'minimum, broadcast': (x) => tf.minimum(tf.zeros([3, 1]), x),
  hardSigmoid: activation('hardSigmoid'),
  swish: activation('swish'),
  gelu: activation('gelu'),
  'layers.reLU with a bound': (x) => tf.layers.reLU({ maxValue: 6 }).apply(x) as Tensor,
};

/** `[3, 7]`, with NaN among the first four values of a row and in its tail. */
const places = [2, 13];
function matrix(): Tensor {
  const values = Float32Array.from({ length: 21 }, (_, i) => ((i * 5) % 9) / 4 - 0.9);
  for (const place of places) values[place] = NaN;
  return tf.tensor2d(values, [3, 7]);
}

/** In `[3, 7]`, NaN in the first two rows: one value of a row, or all. */
const byRow: Record<string, (x: Tensor) => Tensor> = {
  max: (x) => tf.max(x, 1),
  min: (x) => tf.min(x, 1),
  sum: (x) => tf.sum(x, 1),
  mean: (x) => tf.mean(x, 1),
  logSumExp: (x) => tf.logSumExp(x, 1),
  softmax: (x) => tf.softmax(x),
  logSoftmax: (x) => tf.logSoftmax(x),
};

const fusedActivations = ['linear', 'relu', 'relu6', 'elu', 'leakyrelu', 'sigmoid'] as const;

const nanPlaces = async (compute: () => Tensor): Promise<number[]> => {
  const result = tf.tidy(compute);
  const values = [...(await result.data())];
  result.dispose();
  return values.flatMap((value, i) => (Number.isNaN(value) ? [i] : []));
};

/** Tests of the current backend: each op's output is NaN exactly where its input was. */
export function testNaN(): void {
  it.each(Object.entries(elementwise))('in %s', async (_, apply) => {
    expect(await nanPlaces(() => apply(matrix()))).toEqual(places);
  });

  it.each(Object.entries(byRow))('in %s, in its row only', async (_, apply) => {
    const size = await nanPlaces(() => tf.mul(apply(matrix()), NaN));
    const perRow = size.length / 3;
    expect(await nanPlaces(() => apply(matrix()))).toEqual(size.slice(0, 2 * perRow));
  });

  it('in the gradient of ReLU, which passes the slope through as PyTorch does', async () => {
    const relu = (x: Tensor): Tensor => tf.relu(x);
    const gradient = tf.tidy(() => tf.grad(relu)(tf.tensor1d([NaN, 1, -1, 0, NaN, 2])));
    const [ofNaN, ...rest] = await gradient.data();
    expect(ofNaN === 1 || Number.isNaN(ofNaN)).toBe(true);
    expect(rest.slice(0, 3)).toEqual([1, 0, 0]);
  });

  describe.each(fusedActivations)('in products and convolutions with %s', (name) => {
    it('of matrices', async () => {
      const apply = (): Tensor =>
        tf.fused.matMul({ a: matrix(), b: tf.ones([7, 2]), bias: tf.zeros([2]), activation: name });
      expect(await nanPlaces(apply)).toEqual([0, 1, 2, 3]);
    });

    it('of images', async () => {
      const images = (): Tensor => tf.reshape(matrix(), [1, 3, 7, 1]);
      const filter = tf.ones([1, 1, 1, 2]);
      const apply = (): Tensor =>
        tf.fused.conv2d({
          x: images() as never,
          filter: filter as never,
          strides: 1,
          pad: 'valid',
          bias: tf.zeros([2]),
          activation: name,
        });
      expect(await nanPlaces(apply)).toEqual(places.flatMap((place) => [2 * place, 2 * place + 1]));
    });
  });

  it.each(['maxPool', 'avgPool'] as const)('in %s over images and volumes', async (kind) => {
    const reference = kind === 'maxPool' ? windows.maxPool : windows.averagePool;
    for (const sizes of [
      [5, 4],
      [3, 4, 3],
    ]) {
      const shape = [2, ...sizes, 5];
      const data = Float64Array.from({ length: sizeOf(shape) }, (_, i) =>
        i % 17 === 3 ? NaN : ((i * 7) % 13) / 8 - 1,
      );
      const [window, strides] = [sizes.map(() => 2), sizes.map((_, axis) => 1 + (axis % 2))];
      const options: windows.Windows = { window, strides, dilations: sizes.map(() => 1), padding: 'same' };
      const apply = ([x]: Tensor[]): Tensor =>
        sizes.length === 2
          ? tf[kind](x as never, window as [number, number], strides as [number, number], 'same')
          : tf[`${kind}3d`](
              x as never,
              window as [number, number, number],
              strides as [number, number, number],
              'same',
            );
      const x = { shape, data };
      await expectLikeDefinition([x], apply, ([values]) => reference(values, options));
    }
  });
}

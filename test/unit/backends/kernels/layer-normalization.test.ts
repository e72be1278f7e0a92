import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { canNormalizeRows, normalizeRows } from '../../../../workers/backends/wasm/fused-layers.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { layerNormalization } from '../../../reference/normalization.ts';
import { draw, expectLikeDefinition, startSubject, subjects } from '../definitions/compare.ts';
import { propertyOptions, spread } from './fill.ts';

type Options = Parameters<typeof tf.layers.layerNormalization>[0];

/** The layer's call, with tensors for its weights that are there: γ, then β. */
function apply([x, ...weights]: Tensor[], options: Options): Tensor {
  const layer = tf.layers.layerNormalization(options);
  layer.build(x.shape);
  layer.built = true;
  const own = layer.weights.map((weight) => weight.read());
  layer.weights.forEach((weight, i) => Object.assign(weight, { val: weights[i] }));
  tf.dispose(own);
  return layer.apply(x, { training: true }) as Tensor;
}

const valuesOf = (compute: () => Tensor): number[] => tf.tidy(() => [...compute().dataSync()]);

describe.each(subjects)('layer normalization on %s', (subject) => {
  beforeAll(() => startSubject(subject));

  it('subtracts the mean of each row, divides by its standard deviation, and applies γ and β', () => {
    // Means 1 and 6, variances 4 and 16: n = ∓1, then y = γ n + β.
    const x = tf.tensor2d([[-1, 3], [10, 2]]); // prettier-ignore
    const y = valuesOf(() => apply([x, tf.tensor1d([1, 3]), tf.tensor1d([0, 5])], { epsilon: 0 }));
    [-1, 8, 1, 2].forEach((value, i) => expect(y[i]).toBeCloseTo(value, 6));
  });

  it('has the gradients of the definition', () => {
    // x = (-1, 0, 1) √1.5 has mean 0 and variance 1, so n = x. With γ = 1 and dy = (1, 0, 0): mean(dy) = 1/3,
    // mean(dy n) = -√1.5/3, and dx = dy - 1/3 + n √1.5/3 = (1 - 1/3 - 1/2, -1/3, -1/3 + 1/2). dγ = dy n, dβ = dy.
    const root = Math.sqrt(1.5);
    const inputs = [tf.tensor2d([[-root, 0, root]]), tf.ones([3]), tf.zeros([3])];
    const found = tf.grads((...all: Tensor[]) => apply(all, { epsilon: 0 }))(inputs, tf.tensor2d([[1, 0, 0]]));
    const expected = [[1 / 6, -1 / 3, 1 / 6], [-root, 0, 0], [1, 0, 0]]; // prettier-ignore
    expected.flat().forEach((value, i) => expect(found[Math.floor(i / 3)].dataSync()[i % 3]).toBeCloseTo(value, 6));
  });

  it('has the value and gradients of the definition in float64, whatever the shape and the axes', async () => {
    // Rows of one value have no gradient at all: see below.
    const size = (most: number) => fc.integer({ min: 2, max: most });
    const shapes = fc.record({
      sizes: fc.array(size(3), { minLength: 1, maxLength: 2 }),
      last: fc.oneof(size(12), size(40)),
      axis: fc.constantFrom('last', 'first', 'all' as const),
      scale: fc.boolean(),
      center: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shapes, async ({ sizes, last, axis, scale, center }) => {
        const shape = [3, ...sizes, last].slice(axis === 'first' ? 0 : -3);
        const axes = { last: [shape.length - 1], first: [1], all: shape.slice(1).map((_, i) => i + 1) }[axis];
        const weights = axes.map((each) => shape[each]);
        const inputs = [shape, ...(scale ? [weights] : []), ...(center ? [weights] : [])].map((each, i) =>
          draw(each, i),
        );
        // A scale of rows without spread is a difference of equal numbers: only ε keeps it from growing.
        const epsilon = 0.05;
        await expectLikeDefinition(
          inputs,
          (tensors) => apply(tensors, { axis: axes, epsilon, scale, center }),
          ([x, ...of]) =>
            layerNormalization(x, scale ? of[0] : null, center ? of[of.length - 1] : null, { axes, epsilon }),
          1e-5,
        );
      }),
      subject === 'cpu' ? { ...propertyOptions, numRuns: 5 } : { ...propertyOptions, numRuns: 30 },
    );
  });

  it.each([
    [2, 300],
    [70, 5],
  ])('adds %i rows of %i columns, more than one block', async (rows, columns) => {
    await expectLikeDefinition(
      [[rows, columns], [columns], [columns]].map((shape, i) => draw(shape, i)), // prettier-ignore
      (tensors) => apply(tensors, {}),
      ([x, gamma, beta]) => layerNormalization(x, gamma, beta, { axes: [1], epsilon: 1e-3 }),
      5e-6,
    );
  });

  it('has gradients that agree with central differences of its values', () => {
    const shape = [4, 21];
    const [values, scale, dy] = [spread(84, 1), spread(21, 2), spread(84, 3)];
    const lossOf = (x: ArrayLike<number>): number => {
      const y = valuesOf(() => apply([tf.tensor(Float32Array.from(x), shape), tf.tensor(scale), tf.zeros([21])], {}));
      return y.reduce((sum, value, i) => sum + value * dy[i], 0);
    };
    const ofX = tf.grad((x: Tensor) => apply([x, tf.tensor(scale), tf.zeros([21])], {}));
    const gradient = valuesOf(() => ofX(tf.tensor(values, shape), tf.tensor(dy, shape)));
    const step = 2 ** -8;
    for (const i of [0, 19, 20, 47, 83]) {
      const moved = [step, -step].map((by) => lossOf(values.map((value, j) => (j === i ? value + by : value))));
      expect(gradient[i]).toBeCloseTo((moved[0] - moved[1]) / (2 * step), 2);
    }
  });

  it('is β where rows have one value, which gets no gradient', () => {
    const inputs = [[5, 1], [1], [1]].map((shape, i) => tf.tensor(spread(5, i + 1).subarray(0, shape[0]), shape)); // prettier-ignore
    const y = valuesOf(() => apply(inputs, {}));
    expect(y).toEqual(Array(5).fill(spread(5, 3)[0]));
    const [ofX] = tf.grads((...all: Tensor[]) => apply(all, {}))(inputs, tf.tensor(spread(5, 4), [5, 1]));
    for (const value of ofX.dataSync()) expect(value).toBeCloseTo(0, 5);
  });

  it('keeps NaN in the row that has it, and in the gradients that depend on it', () => {
    const inputs = [tf.tensor2d([[1, NaN, 3], [1, 2, 6]]), tf.ones([3]), tf.zeros([3])]; // prettier-ignore
    const isNaNAt = (compute: () => Tensor) => valuesOf(compute).map(Number.isNaN);
    expect(isNaNAt(() => apply(inputs, {}))).toEqual([true, true, true, false, false, false]);
    const gradients = tf.grads((...all: Tensor[]) => apply(all, {}))(inputs, tf.ones([2, 3]));
    expect(gradients.map((gradient) => isNaNAt(() => gradient))).toEqual([
      [true, true, true, false, false, false],
      [true, true, true],
      [false, false, false],
    ]);
  });
});

describe.each(['wasm, relaxed', 'wasm, deterministic'] as const)('rows of stacked members on %s', (subject) => {
  beforeAll(() => startSubject(subject));

  it('have the bits of each member alone, and the same at each call', () => {
    const [members, rows, columns] = [3, 70, 37];
    const stack = [[members, rows, columns], [members, 1, columns], [members, 1, columns]].map((shape, i) =>
      tf.tensor(spread(tf.util.sizeFromShape(shape), i + 1), shape),
    ); // prettier-ignore
    const all = withGradients(stack, members);
    expect(withGradients(stack, members)).toEqual(all);
    for (let m = 0; m < members; m++) {
      const alone = withGradients(
        stack.map((tensor) => tf.slice(tensor, [m, 0, 0], [1, -1, -1])),
        1,
      );
      expect(alone).toEqual(
        all.map((values) => values.slice((m * values.length) / members).slice(0, values.length / members)),
      );
    }
  });
});

/** y and its gradients. Each member gets the same gradient of y. */
function withGradients(inputs: Tensor[], members: number): Float32Array[] {
  const [x] = inputs;
  expect(canNormalizeRows(x)).toBe(true);
  const f = (...[values, gamma, beta]: Tensor[]) => normalizeRows(values, gamma, beta, { epsilon: 1e-3, members });
  const dy = tf.tile(tf.tensor(spread(x.size / members, 9), [1, ...x.shape.slice(1)]), [members, 1, 1]);
  return [f(...inputs), ...tf.grads(f)(inputs, dy)].map((tensor) => tensor.dataSync() as Float32Array);
}

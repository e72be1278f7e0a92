import { tf, type Tensor } from '../../../../workers/tf.ts';
import { linearWeights, nearestWeights, resizeByWeights } from './resize.ts';
import { opCase, sizeOf, type Draw, type OpCase, type Values } from './op-case.ts';

const transposed = (shape: number[], isTransposed: boolean): number[] =>
  isTransposed ? [...shape.slice(0, -2), ...shape.slice(-2).toReversed()] : shape;

const matMul = opCase('matMul', (random) => {
  const [m, k, n] = [1, 2, 3].map(() => random.integer(1, 40));
  const batch = random.pick([[], [3], [2, 3]]);
  const flags = [random.pick([false, true]), random.pick([false, true])];
  return {
    inputs: [
      random.normal(transposed([...batch, m, k], flags[0])),
      random.normal(transposed([...batch, k, n], flags[1])),
    ],
    apply: ([a, b]) => tf.matMul(a, b, flags[0], flags[1]),
  };
});

const fusedMatMul = opCase('fused.matMul', (random) => {
  const [m, k, n] = [1, 2, 3].map(() => random.integer(1, 40));
  const activation = random.pick(['linear', 'relu', 'relu6', 'elu', 'leakyrelu', 'sigmoid'] as const);
  return {
    inputs: [random.normal([m, k]), random.normal([k, n]), random.normal([n])],
    apply: ([a, b, bias]) => tf.fused.matMul({ a, b, bias, activation }),
  };
});

type Reduce = (x: Tensor, axes: number[], keep: boolean) => Tensor;

/** A reduction over one or more axes, or over all. */
function reduction(
  op: string,
  reduce: Reduce,
  values = (random: Draw, shape: number[]) => random.normal(shape),
): OpCase {
  return opCase(op, (random) => {
    const shape = random.shape(1, 4);
    const axes = random.permutation(shape.length).slice(0, random.integer(1, shape.length));
    const keep = random.pick([false, true]);
    return { inputs: [values(random, shape)], apply: ([x]) => reduce(x, axes, keep) };
  });
}

const distinct = (random: Draw, shape: number[]): Values => random.distinct(shape);
const awayFromZero = (random: Draw, shape: number[]): Values => random.uniform(shape, 0.5, 1.5);

/** An op along the last axis. */
function alongLast(op: string, apply: (x: Tensor) => Tensor): OpCase {
  return opCase(op, (random) => ({ inputs: [random.normal(random.shape(2, 3, 12))], apply: ([x]) => apply(x) }));
}

/** An op that moves values. */
function rearrange(
  op: string,
  smallestRank: number,
  apply: (x: Tensor, random: Draw) => (x: Tensor) => Tensor,
): OpCase {
  return opCase(op, (random) => {
    const input = random.normal(random.shape(smallestRank, 4));
    const bound = apply(tf.zeros(input.shape), random);
    return { inputs: [input], apply: ([x]) => bound(x) };
  });
}

const concat = opCase('concat', (random) => {
  const shape = random.shape(1, 4);
  const axis = random.axis(shape.length);
  const parts = Array.from({ length: random.integer(1, 3) }, () => shape.with(axis, random.integer(1, 5)));
  return { inputs: parts.map((part) => random.normal(part)), apply: (inputs) => tf.concat(inputs, axis) };
});

const stack = opCase('stack', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  return { inputs: [random.normal(shape), random.normal(shape)], apply: (inputs) => tf.stack(inputs, axis) };
});

const gather = opCase('gather', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  const indices = random.integers(random.integer(1, 9), shape[axis]);
  return { inputs: [random.normal(shape)], apply: ([x]) => tf.gather(x, tf.tensor1d(indices, 'int32'), axis) };
});

const unsortedSegmentSum = opCase('unsortedSegmentSum', (random) => {
  const shape = random.shape(1, 3);
  const segments = random.integer(1, 5);
  const ids = random.integers(shape[0], segments);
  return {
    inputs: [random.normal(shape)],
    apply: ([x]) => tf.unsortedSegmentSum(x, tf.tensor1d(ids, 'int32'), segments),
  };
});

/** TensorFlow.js has no gradient for a split or unstack into a single part. */
const split = opCase('split', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  const parts = random.integer(2, 4);
  return {
    inputs: [random.normal(shape.with(axis, parts * random.integer(1, 3)))],
    apply: ([x]) => tf.split(x, parts, axis)[1],
  };
});

const unstack = opCase('unstack', (random) => {
  const shape = random.shape(2, 4);
  const axis = random.axis(shape.length);
  return {
    inputs: [random.normal(shape.with(axis, random.integer(2, 5)))],
    apply: ([x]) => tf.unstack(x, axis)[1],
  };
});

const slice = rearrange('slice', 1, ({ shape }, random) => {
  const begin = shape.map((size) => random.integer(0, size - 1));
  const size = shape.map((length, axis) => random.integer(1, length - begin[axis]));
  return (x) => tf.slice(x, begin, size);
});

const pad = rearrange('pad', 1, ({ shape }, random) => {
  const paddings = shape.map((): [number, number] => [random.integer(0, 2), random.integer(0, 2)]);
  return (x) => tf.pad(x, paddings, 0.5);
});

const mirrorPad = rearrange('mirrorPad', 1, ({ shape }) => {
  const paddings = shape.map((size): [number, number] => (size > 1 ? [1, 1] : [0, 0]));
  return (x) => tf.mirrorPad(x, paddings, 'reflect');
});

const oneHot = opCase('oneHot', (random) => {
  const labels = random.integers(random.integer(1, 9), 5);
  return {
    inputs: [random.normal([labels.length, 5])],
    apply: ([x]) => tf.mul(x, tf.oneHot(tf.tensor1d(labels, 'int32'), 5)),
  };
});

/** For each value of a resized axis its weights of the original's values, `[to, from]`. */
type AxisWeights = (from: number, to: number) => number[][];

/** An image op that resizes; held against products with its weights, as tfjs's cpu backend has wrong gradients. */
const resize = (op: string, apply: (x: Tensor, size: [number, number]) => Tensor, weights: AxisWeights): OpCase =>
  opCase(op, (random) => {
    const [height, width] = [random.integer(1, 9), random.integer(1, 9)];
    const input = random.normal([2, random.integer(1, 6), random.integer(1, 6), random.integer(1, 4)]);
    return {
      inputs: [input],
      apply: ([x]) => apply(x, [height, width]),
      reference: ([x]) => resizeByWeights(x, weights(x.shape[1] ?? 0, height), weights(x.shape[2] ?? 0, width)),
    };
  });

const argMax = opCase('argMax', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  return { inputs: [random.distinct(shape)], apply: ([x]) => tf.argMax(x, axis), differentiable: false };
});

export const structureCases: readonly OpCase[] = [
  matMul,
  fusedMatMul,
  reduction('sum', tf.sum),
  reduction('mean', tf.mean),
  reduction('max', tf.max, distinct),
  reduction('min', tf.min, distinct),
  reduction('prod', tf.prod, awayFromZero),
  reduction('logSumExp', tf.logSumExp),
  reduction('moments', (x, axes, keep) => {
    const { mean, variance } = tf.moments(x, axes, keep);
    return tf.add(mean, tf.mul(variance, 3));
  }),
  reduction('norm', (x, axes, keep) => tf.norm(x, 'euclidean', axes.slice(0, 1), keep)),
  alongLast('softmax', (x) => tf.softmax(x)),
  alongLast('logSoftmax', (x) => tf.logSoftmax(x)),
  alongLast('cumsum', (x) => tf.cumsum(x, x.rank - 1)),
  argMax,
  rearrange('transpose', 1, ({ rank }, random) => {
    const permutation = random.permutation(rank);
    return (x) => tf.transpose(x, permutation);
  }),
  rearrange(
    'reshape',
    1,
    ({ shape }) =>
      (x) =>
        tf.reshape(x, [sizeOf(shape)]),
  ),
  rearrange('expandDims', 1, ({ rank }, random) => {
    const axis = random.axis(rank);
    return (x) => tf.expandDims(x, axis);
  }),
  rearrange('reverse', 1, ({ rank }, random) => {
    const axis = random.axis(rank);
    return (x) => tf.reverse(x, axis);
  }),
  rearrange('tile', 1, ({ shape }, random) => {
    const repeats = shape.map(() => random.integer(1, 3));
    return (x) => tf.tile(x, repeats);
  }),
  split,
  unstack,
  slice,
  pad,
  mirrorPad,
  concat,
  stack,
  gather,
  unsortedSegmentSum,
  oneHot,
  resize('image.resizeBilinear', (x, size) => tf.image.resizeBilinear(x as never, size), linearWeights),
  resize('image.resizeNearestNeighbor', (x, size) => tf.image.resizeNearestNeighbor(x as never, size), nearestWeights),
];

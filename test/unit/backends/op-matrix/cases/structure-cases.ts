import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import * as arrays from '../../../../reference/arrays.ts';
import { multiply } from '../../../../reference/elementwise.ts';
import { Value, weightedSum } from '../../../../reference/value.ts';
import { linear, nearest, resize, type Alignment, type AxisParts } from './resize.ts';
import { opCase, sizeOf, type Draw, type OpCase } from '../op-case.ts';

/** An op along the last axis. */
function alongLast(op: string, apply: (x: Tensor) => Tensor, reference: (x: Value, axis: number) => Value): OpCase {
  return opCase(op, (random) => ({
    inputs: [random.normal(random.shape(2, 3, 12))],
    apply: ([x]) => apply(x),
    reference: ([x]) => reference(x, x.shape.length - 1),
  }));
}

/** The sum along an axis up to each value, inclusive. */
function cumulativeSum(x: Value, axis: number): Value {
  const length = x.shape[axis];
  return weightedSum(x, x.shape, (term) =>
    x.data.forEach((_, o) => {
      for (let i = o - (o % length); i <= o; i++) term(o, i, 1);
    }),
  );
}

interface Rearranged {
  readonly apply: (x: Tensor) => Tensor;
  readonly reference: (x: Value) => Value;
}

/** An op that rearranges values. */
function rearrange(op: string, smallestRank: number, how: (shape: number[], random: Draw) => Rearranged): OpCase {
  return opCase(op, (random) => {
    const input = random.normal(random.shape(smallestRank, 4));
    const { apply, reference } = how(input.shape, random);
    return { inputs: [input], apply: ([x]) => apply(x), reference: ([x]) => reference(x) };
  });
}

const concat = opCase('concat', (random) => {
  const shape = random.shape(1, 4);
  const axis = random.axis(shape.length);
  const parts = Array.from({ length: random.integer(1, 3) }, () => shape.with(axis, random.integer(1, 5)));
  return {
    inputs: parts.map((part) => random.normal(part)),
    apply: (inputs) => tf.concat(inputs, axis),
    reference: (inputs) => arrays.concat(inputs, axis),
  };
});

const stack = opCase('stack', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  return {
    inputs: [random.normal(shape), random.normal(shape)],
    apply: (inputs) => tf.stack(inputs, axis),
    reference: (inputs) => arrays.stack(inputs, axis),
  };
});

const gather = opCase('gather', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  const indices = random.integers(random.integer(1, 9), shape[axis]);
  return {
    inputs: [random.normal(shape)],
    apply: ([x]) => tf.gather(x, tf.tensor1d(indices, 'int32'), axis),
    reference: ([x]) => arrays.gather(x, indices, axis),
  };
});

const unsortedSegmentSum = opCase('unsortedSegmentSum', (random) => {
  const shape = random.shape(1, 3);
  const segments = random.integer(1, 5);
  const ids = random.integers(shape[0], segments);
  const width = sizeOf(shape.slice(1));
  return {
    inputs: [random.normal(shape)],
    apply: ([x]) => tf.unsortedSegmentSum(x, tf.tensor1d(ids, 'int32'), segments),
    reference: ([x]) =>
      weightedSum(x, [segments, ...shape.slice(1)], (term) =>
        x.data.forEach((_, i) => term(ids[Math.floor(i / width)] * width + (i % width), i, 1)),
      ),
  };
});

const split = opCase('split', (random) => {
  const parts = random.integer(1, 4);
  const drawn = random.shape(1, 3);
  const axis = random.axis(drawn.length);
  const size = random.integer(1, 3);
  const shape = drawn.with(axis, parts * size);
  return {
    inputs: [random.normal(shape)],
    options: { axis, parts },
    apply: ([x]) => tf.split(x, parts, axis)[parts - 1],
    reference: ([x]) =>
      arrays.slice(
        x,
        shape.map((_, a) => (a === axis ? (parts - 1) * size : 0)),
        shape.with(axis, size),
      ),
  };
});

const unstack = opCase('unstack', (random) => {
  const drawn = random.shape(2, 4);
  const axis = random.axis(drawn.length);
  const shape = drawn.with(axis, random.integer(1, 5));
  return {
    inputs: [random.normal(shape)],
    options: { axis },
    apply: ([x]) => tf.unstack(x, axis)[shape[axis] - 1],
    reference: ([x]) =>
      arrays.reshape(
        arrays.slice(
          x,
          shape.map((length, a) => (a === axis ? length - 1 : 0)),
          shape.with(axis, 1),
        ),
        shape.toSpliced(axis, 1),
      ),
  };
});

const slice = rearrange('slice', 1, (shape, random) => {
  const begin = shape.map((size) => random.integer(0, size - 1));
  const size = shape.map((length, axis) => random.integer(1, length - begin[axis]));
  return { apply: (x) => tf.slice(x, begin, size), reference: (x) => arrays.slice(x, begin, size) };
});

const pad = rearrange('pad', 1, (shape, random) => {
  const paddings = shape.map((): [number, number] => [random.integer(0, 2), random.integer(0, 2)]);
  return { apply: (x) => tf.pad(x, paddings, 0.5), reference: (x) => arrays.pad(x, paddings, 0.5) };
});

/**
 * The index from which the index i outside of [0, size) is mirrored. `edge` is 1 if the outermost value is not
 * repeated.
 */
function mirrored(i: number, size: number, edge: number): number {
  if (i < 0) return edge - 1 - i;
  return i < size ? i : 2 * size - 1 - edge - i;
}

const mirrorPad = rearrange('mirrorPad', 1, (shape, random) => {
  const mode = random.pick(['reflect', 'symmetric'] as const);
  const edge = mode === 'reflect' ? 1 : 0;
  const most = (size: number): number => Math.min(size - edge, 3);
  const paddings = shape.map((size): [number, number] => [
    random.integer(0, most(size)),
    random.integer(0, most(size)),
  ]);
  const padded = shape.map((size, axis) => size + paddings[axis][0] + paddings[axis][1]);
  return {
    apply: (x) => tf.mirrorPad(x, paddings, mode),
    reference: (x) =>
      arrays.rearrange(x, padded, (index) =>
        index.map((i, axis) => mirrored(i - paddings[axis][0], shape[axis], edge)),
      ),
  };
});

const oneHot = opCase('oneHot', (random) => {
  const labels = random.integers(random.integer(1, 9), 5);
  return {
    inputs: [random.normal([labels.length, 5])],
    apply: ([x]) => tf.mul(x, tf.oneHot(tf.tensor1d(labels, 'int32'), 5)),
    reference: ([x]) =>
      multiply(
        x,
        new Value(
          labels.flatMap((label) => [0, 1, 2, 3, 4].map((k) => Number(k === label))),
          x.shape,
        ),
      ),
  };
});

type Resize = typeof tf.image.resizeBilinear;

function resizeCase(op: string, apply: Resize, parts: (alignment: Alignment) => AxisParts): OpCase {
  return opCase(
    op,
    (random) => {
      const [height, width] = [random.integer(1, 9), random.integer(1, 9)];
      const alignment = random.pick([
        { alignCorners: false, halfPixelCenters: false },
        { alignCorners: true, halfPixelCenters: false },
        { alignCorners: false, halfPixelCenters: true },
      ]);
      return {
        inputs: [random.normal([2, random.integer(1, 6), random.integer(1, 6), random.channels()])],
        options: { height, width, ...alignment },
        apply: ([x]) => apply(x as never, [height, width], alignment.alignCorners, alignment.halfPixelCenters),
        reference: ([x]) => resize(x, height, width, parts(alignment)),
      };
    },
    2,
  );
}

export const structureCases: readonly OpCase[] = [
  alongLast('softmax', (x) => tf.softmax(x), arrays.softmax),
  alongLast('logSoftmax', (x) => tf.logSoftmax(x), arrays.logSoftmax),
  alongLast('cumsum', (x) => tf.cumsum(x, x.rank - 1), cumulativeSum),
  rearrange('transpose', 1, (shape, random) => {
    const permutation = random.permutation(shape.length);
    return { apply: (x) => tf.transpose(x, permutation), reference: (x) => arrays.transpose(x, permutation) };
  }),
  rearrange('reshape', 1, (shape) => ({
    apply: (x) => tf.reshape(x, [sizeOf(shape)]),
    reference: (x) => arrays.reshape(x, [sizeOf(shape)]),
  })),
  rearrange('expandDims', 1, (shape, random) => {
    const axis = random.axis(shape.length);
    return {
      apply: (x) => tf.expandDims(x, axis),
      reference: (x) => arrays.reshape(x, shape.toSpliced(axis, 0, 1)),
    };
  }),
  rearrange('reverse', 1, (shape, random) => {
    const axis = random.axis(shape.length);
    return {
      apply: (x) => tf.reverse(x, axis),
      reference: (x) => arrays.rearrange(x, shape, (index) => index.with(axis, shape[axis] - 1 - index[axis])),
    };
  }),
  rearrange('tile', 1, (shape, random) => {
    const repeats = shape.map(() => random.integer(1, 3));
    const tiled = shape.map((size, axis) => size * repeats[axis]);
    return {
      apply: (x) => tf.tile(x, repeats),
      reference: (x) => arrays.rearrange(x, tiled, (index) => index.map((i, axis) => i % shape[axis])),
    };
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
  resizeCase('image.resizeBilinear', tf.image.resizeBilinear, linear),
  resizeCase('image.resizeNearestNeighbor', tf.image.resizeNearestNeighbor, nearest),
];

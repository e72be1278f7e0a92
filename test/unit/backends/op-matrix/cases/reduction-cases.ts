import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import * as arrays from '../../../../reference/arrays.ts';
import { add, affine, apply, multiply } from '../../../../reference/elementwise.ts';
import { Value } from '../../../../reference/value.ts';
import { activateFused } from './convolution-cases.ts';
import { opCase, type Draw, type OpCase, type Values } from '../op-case.ts';

const transposed = (shape: number[], isTransposed: boolean): number[] =>
  isTransposed ? [...shape.slice(0, -2), ...shape.slice(-2).toReversed()] : shape;

const matMul = opCase(
  'matMul',
  (random) => {
    const [m, k, n] = [1, 2, 3].map(() => random.integer(1, 40));
    const batch = random.pick([[], [3], [2, 3]]);
    const flags = [random.pick([false, true]), random.pick([false, true])];
    return {
      inputs: [
        random.normal(transposed([...batch, m, k], flags[0])),
        random.normal(transposed([...batch, k, n], flags[1])),
      ],
      options: { transposeA: flags[0], transposeB: flags[1] },
      apply: ([a, b]) => tf.matMul(a, b, flags[0], flags[1]),
      reference: ([a, b]) => arrays.matMul(a, b, flags[0], flags[1]),
    };
  },
  2,
);

const fusedMatMul = opCase('fused.matMul', (random) => {
  const [m, k, n] = [1, 2, 3].map(() => random.integer(1, 40));
  const activation = random.pick(['linear', 'relu', 'relu6', 'elu', 'leakyrelu', 'sigmoid'] as const);
  return {
    inputs: [random.normal([m, k]), random.normal([k, n]), random.normal([n])],
    options: { activation },
    apply: ([a, b, bias]) => tf.fused.matMul({ a, b, bias, activation }),
    reference: ([a, b, bias]) => activateFused(add(arrays.matMul(a, b), bias), activation),
  };
});

/** Over axes kept with size 1. */
type Reduce = (x: Value, axes: readonly number[]) => Value;

/** A reduction over one or more axes, or over all. */
function reduction(
  op: string,
  reduce: (x: Tensor, axes: number[], keep: boolean) => Tensor,
  reference: Reduce,
  values = (random: Draw, shape: number[]): Values => random.normal(shape),
): OpCase {
  return opCase(op, (random) => {
    const shape = random.shape(1, 4);
    const axes = random.permutation(shape.length).slice(0, random.integer(1, shape.length));
    const keep = random.pick([false, true]);
    return {
      inputs: [values(random, shape)],
      options: { axes, keep },
      apply: ([x]) => reduce(x, axes, keep),
      reference: ([x]) => {
        const kept = reference(x, axes);
        return keep ? kept : arrays.reshape(kept, arrays.without(x.shape, axes));
      },
    };
  });
}

const distinct = (random: Draw, shape: number[]): Values => random.distinct(shape);
const awayFromZero = (random: Draw, shape: number[]): Values => random.uniform(shape, 0.5, 1.5);

/** Π x of positive values. */
const product: Reduce = (x, axes) => apply('exp', arrays.sum(apply('log', x), axes));

/** √Σ x² over one axis. */
const norm = opCase('norm', (random) => {
  const shape = random.shape(1, 4);
  const axis = random.axis(shape.length);
  return {
    inputs: [random.normal(shape)],
    options: { axis },
    apply: ([x]) => tf.norm(x, 'euclidean', axis, true),
    reference: ([x]) => apply('sqrt', arrays.sum(multiply(x, x), [axis])),
  };
});

const argMax = opCase('argMax', (random) => {
  const shape = random.shape(1, 3);
  const axis = random.axis(shape.length);
  return {
    inputs: [random.distinct(shape)],
    options: { axis },
    apply: ([x]) => tf.argMax(x, axis),
    reference: (inputs) => describePositionMax(inputs[0], axis),
    differentiable: false,
  };
});

function describePositionMax(x: Value, axis: number): Value {
  const largest = arrays.max(x, [axis]).data;
  const inner = x.shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const places = Array.from(largest, (value, o) => {
    const begin = Math.floor(o / inner) * inner * x.shape[axis] + (o % inner);
    return Array.from({ length: x.shape[axis] }, (_, k) => x.data[begin + k * inner]).indexOf(value);
  });
  return new Value(places, x.shape.toSpliced(axis, 1));
}

export const reductionCases: readonly OpCase[] = [
  matMul,
  fusedMatMul,
  reduction('sum', tf.sum, arrays.sum),
  reduction('mean', tf.mean, arrays.mean),
  reduction('max', tf.max, arrays.max, distinct),
  reduction('min', tf.min, arrays.min, distinct),
  reduction('prod', tf.prod, product, awayFromZero),
  reduction('logSumExp', tf.logSumExp, arrays.logSumExp),
  reduction(
    'moments',
    (x, axes, keep) => {
      const { mean, variance } = tf.moments(x, axes, keep);
      return tf.add(mean, tf.mul(variance, 3));
    },
    (x, axes) => add(arrays.mean(x, axes), affine(arrays.variance(x, axes), 3)),
  ),
  norm,
  argMax,
];

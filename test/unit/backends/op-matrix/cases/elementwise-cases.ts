import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import * as op from '../../../../reference/elementwise.ts';
import { Value } from '../../../../reference/value.ts';
import { opCase, type OpCase } from '../op-case.ts';

type Unary = (x: Tensor) => Tensor;
type Binary = (a: Tensor, b: Tensor) => Tensor;
type BinaryReference = (a: Value, b: Value) => Value;

interface Range {
  readonly smallest?: number;
  readonly largest?: number;
}

/** An op of one tensor, on values in [smallest, largest), where it is smooth. */
function unary(
  name: op.FunctionName | 'leakyRelu' | 'elu',
  apply: Unary,
  { smallest = -3, largest = 3 }: Range = {},
): OpCase {
  const reference = (x: Value): Value => {
    if (name === 'leakyRelu') return op.leakyRelu(x, 0.2);
    return name === 'elu' ? op.elu(x) : op.apply(name, x);
  };
  return opCase(name, (random) => ({
    inputs: [random.uniform(random.shape(), smallest, largest)],
    apply: ([x]) => apply(x),
    reference: ([x]) => reference(x),
  }));
}

/** An op of two tensors, one of which broadcasts to the other. */
function binary(
  name: string,
  apply: Binary,
  reference: BinaryReference,
  { smallest = -3, largest = 3 }: Range = {},
): OpCase {
  return opCase(name, (random) => {
    const shape = random.shape();
    const shapes = [shape, random.broadcastable(shape)];
    if (random.rarely(2)) shapes.reverse();
    return {
      inputs: shapes.map((s) => random.uniform(s, smallest, largest)),
      apply: ([a, b]) => apply(a, b),
      reference: ([a, b]) => reference(a, b),
    };
  });
}

function comparison(name: string, apply: Binary, holds: (p: number, q: number) => boolean): OpCase {
  return opCase(name, (random) => {
    const shape = random.shape();
    return {
      inputs: [random.normal(shape), random.normal(random.broadcastable(shape))],
      apply: ([a, b]) => tf.cast(apply(a, b), 'float32'),
      reference: ([a, b]) => op.compare(a, b, holds),
      differentiable: false,
    };
  });
}

const where = opCase('where', (random) => {
  const shape = random.shape();
  const inputs = [random.normal(shape), random.normal(shape)];
  const chosen = Array.from(inputs[0].data, () => random.integer(0, 1));
  return {
    inputs,
    apply: ([a, b]) => tf.where(tf.tensor(chosen, shape, 'bool'), a, b),
    reference: ([a, b]) => {
      const first = new Value(chosen, shape);
      return op.add(op.multiply(first, a), op.multiply(op.affine(first, -1, 1), b));
    },
  };
});

const prelu = opCase('prelu', (random) => {
  const shape = random.shape(2, 4);
  return {
    inputs: [random.normal(shape), random.normal(shape.slice(1))],
    apply: ([x, slope]) => tf.prelu(x, slope),
    reference: ([x, slope]) => op.prelu(x, slope),
  };
});

const addN = opCase('addN', (random) => {
  const shape = random.shape();
  const terms = Array.from({ length: random.integer(1, 4) }, () => random.normal(shape));
  return { inputs: terms, apply: (inputs) => tf.addN(inputs), reference: (inputs) => inputs.reduce(op.add) };
});

const clip = opCase('clipByValue', (random) => ({
  inputs: [random.away(random.shape(), [-0.5, 0.75])],
  apply: ([x]) => tf.clipByValue(x, -0.5, 0.75),
  reference: ([x]) => op.clip(x, -0.5, 0.75),
}));

/** x Φ(x), Hendrycks and Gimpel (2016). */
const gelu = (x: Tensor): Tensor => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));

const positive: Range = { smallest: 0.1 };

export const elementwiseCases: readonly OpCase[] = [
  binary('add', tf.add, op.add),
  binary('sub', tf.sub, op.subtract),
  binary('mul', tf.mul, op.multiply),
  binary('div', tf.div, op.divide, { smallest: 0.5 }),
  binary('maximum', tf.maximum, op.maximum),
  binary('minimum', tf.minimum, op.minimum),
  binary('squaredDifference', tf.squaredDifference, (a, b) => op.apply('square', op.subtract(a, b))),
  binary('pow', tf.pow, op.power, { smallest: 0.5 }),
  addN,
  unary('relu', tf.relu),
  unary('relu6', tf.relu6, { largest: 9 }),
  unary('leakyRelu', (x) => tf.leakyRelu(x, 0.2)),
  prelu,
  unary('elu', tf.elu),
  unary('selu', tf.selu),
  unary('gelu', gelu),
  unary('sigmoid', tf.sigmoid, { smallest: -20, largest: 20 }),
  unary('logSigmoid', tf.logSigmoid),
  unary('tanh', tf.tanh, { smallest: -12, largest: 12 }),
  unary('softplus', tf.softplus, { smallest: -20, largest: 20 }),
  unary('swish', (x) => tf.mul(x, tf.sigmoid(x))),
  unary('erf', tf.erf),
  unary('exp', tf.exp),
  unary('expm1', tf.expm1),
  unary('log', tf.log, positive),
  unary('log1p', tf.log1p, positive),
  unary('sqrt', tf.sqrt, positive),
  unary('rsqrt', tf.rsqrt, positive),
  unary('reciprocal', tf.reciprocal, { smallest: 0.5 }),
  unary('square', tf.square),
  unary('abs', tf.abs),
  unary('neg', tf.neg),
  unary('sin', tf.sin),
  unary('cos', tf.cos),
  unary('step', (x) => tf.step(x)),
  clip,
  where,
  comparison('greater', tf.greater, (p, q) => p > q),
  comparison('equal', tf.equal, (p, q) => p === q),
];

import { tf, type Tensor } from '../../../../workers/tf.ts';
import { opCase, type OpCase } from './op-case.ts';

type Unary = (x: Tensor) => Tensor;
type Binary = (a: Tensor, b: Tensor) => Tensor;

/** An op of one tensor, on values in [smallest, largest), where it is smooth. */
function unary(op: string, apply: Unary, smallest = -3, largest = 3): OpCase {
  return opCase(op, (random) => ({
    inputs: [random.uniform(random.shape(), smallest, largest)],
    apply: ([x]) => apply(x),
  }));
}

/** An op of two tensors, of which one broadcasts to the other. */
function binary(op: string, apply: Binary, smallest = -3, largest = 3): OpCase {
  return opCase(op, (random) => {
    const shape = random.shape();
    const shapes = [shape, random.broadcastable(shape)];
    if (random.integer(0, 1) === 1) shapes.reverse();
    return { inputs: shapes.map((s) => random.uniform(s, smallest, largest)), apply: ([a, b]) => apply(a, b) };
  });
}

/** An op whose gradient TensorFlow.js has for operands of one shape only. */
function sameShape(op: string, apply: Binary): OpCase {
  return opCase(op, (random) => {
    const shape = random.shape();
    return { inputs: [random.normal(shape), random.normal(shape)], apply: ([a, b]) => apply(a, b) };
  });
}

function comparison(op: string, apply: Binary): OpCase {
  return opCase(op, (random) => {
    const shape = random.shape();
    return {
      inputs: [random.normal(shape), random.normal(random.broadcastable(shape))],
      apply: ([a, b]) => tf.cast(apply(a, b), 'float32'),
      differentiable: false,
    };
  });
}

const where = opCase('where', (random) => {
  const shape = random.shape();
  return {
    inputs: [random.normal(shape), random.normal(shape)],
    apply: ([a, b]) => tf.where(tf.greater(tf.sin(tf.range(0, a.size)), 0).reshape(a.shape), a, b),
  };
});

const prelu = opCase('prelu', (random) => {
  const shape = random.shape(2, 4);
  return { inputs: [random.normal(shape), random.normal(shape.slice(1))], apply: ([x, slope]) => tf.prelu(x, slope) };
});

const addN = opCase('addN', (random) => {
  const shape = random.shape();
  const terms = Array.from({ length: random.integer(1, 4) }, () => random.normal(shape));
  return { inputs: terms, apply: (inputs) => tf.addN(inputs) };
});

const clip = opCase('clipByValue', (random) => ({
  inputs: [random.normal(random.shape())],
  apply: ([x]) => tf.clipByValue(x, -0.5, 0.75),
}));

/** x Φ(x), Hendrycks and Gimpel (2016). */
const gelu = (x: Tensor): Tensor => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));

export const elementwiseCases: readonly OpCase[] = [
  binary('add', tf.add),
  binary('sub', tf.sub),
  binary('mul', tf.mul),
  binary('div', tf.div, 0.5),
  sameShape('maximum', tf.maximum),
  sameShape('minimum', tf.minimum),
  sameShape('squaredDifference', tf.squaredDifference),
  binary('pow', tf.pow, 0.5),
  addN,
  unary('relu', tf.relu),
  unary('relu6', tf.relu6, -3, 9),
  unary('leakyRelu', (x) => tf.leakyRelu(x, 0.2)),
  prelu,
  unary('elu', tf.elu),
  unary('selu', tf.selu),
  unary('gelu', gelu),
  unary('sigmoid', tf.sigmoid, -20, 20),
  unary('logSigmoid', tf.logSigmoid),
  unary('tanh', tf.tanh, -12, 12),
  unary('softplus', tf.softplus, -20, 20),
  unary('swish', (x) => tf.mul(x, tf.sigmoid(x))),
  unary('erf', tf.erf),
  unary('exp', tf.exp),
  unary('expm1', tf.expm1),
  unary('log', tf.log, 0.1),
  unary('log1p', tf.log1p, 0.1),
  unary('sqrt', tf.sqrt, 0.1),
  unary('rsqrt', tf.rsqrt, 0.1),
  unary('reciprocal', tf.reciprocal, 0.5),
  unary('square', tf.square),
  unary('abs', tf.abs),
  unary('neg', tf.neg),
  unary('sin', tf.sin),
  unary('cos', tf.cos),
  unary('step', (x) => tf.step(x)),
  clip,
  where,
  comparison('greater', tf.greater),
  comparison('equal', tf.equal),
];

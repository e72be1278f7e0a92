import { Generator } from '../../../../workers/random/index.ts';
import { tf, type Tensor } from '../../../../workers/tf.ts';
import { Draw, type OpCase, type OpSample, type Values } from './op-case.ts';

/** How far a backend is from another in an op: largest relative errors over the samples, and the shapes they had. */
export interface OpComparison {
  readonly op: string;
  readonly valueError: number;
  /** Null where the op has no gradient. */
  readonly gradientError: number | null;
  readonly shapes: readonly string[];
}

interface OpResult {
  readonly value: Values;
  readonly gradients: Values[] | null;
}

/**
 * Value and gradient of `samples` draws of an op on `backend` against `reference`. The error of an array is max|a − b| / max|b|: what
 * cancels to nearly nothing is held against the array's size, not against itself.
 *
 * @throws when the op fails on `backend`, or a shape differs
 */
export async function compareOp(testCase: OpCase, backend: string, reference: string, samples: number) {
  const draw = new Draw(new Generator(7, testCase.op));
  const comparison = { op: testCase.op, valueError: 0, gradientError: null as number | null, shapes: [] as string[] };
  for (let i = 0; i < samples; i++) {
    await tf.setBackend(reference);
    const sample = testCase.draw(draw);
    const expected = await evaluate(sample, sample.reference ?? sample.apply);
    await tf.setBackend(backend);
    const found = await evaluate(sample, sample.apply);
    const shapes = sample.inputs.map(({ shape }) => `[${shape.join(', ')}]`).join(' ');
    comparison.shapes.push(shapes);
    comparison.valueError = worse(comparison.valueError, relativeError(found.value, expected.value));
    expected.gradients?.forEach((gradient, input) => {
      const other = found.gradients?.[input];
      if (other === undefined)
        throw new Error(`${testCase.op} of ${shapes} has no gradient of input ${input} on ${backend}.`);
      comparison.gradientError = worse(comparison.gradientError ?? 0, relativeError(other, gradient));
    });
  }
  return comparison satisfies OpComparison;
}

/** NaN is worse than any number, and stays so. */
function worse(error: number, other: number): number {
  return Number.isNaN(error) || Number.isNaN(other) ? NaN : Math.max(error, other);
}

/** On the current backend: the value, and the gradients of Σ value · dy with a fixed dy of both signs. */
async function evaluate(sample: OpSample, apply: OpSample['apply']): Promise<OpResult> {
  tf.engine().startScope();
  try {
    const inputs = sample.inputs.map(({ data, shape }) => tf.tensor(data, shape));
    const value = apply(inputs);
    if (sample.differentiable === false) return { value: await valuesOf(value), gradients: null };
    const weights = Float32Array.from({ length: value.size }, (_, i) => 0.25 + ((i * 7) % 11) / 8 - ((i * 5) % 3));
    const gradients = tf.grads((...args: Tensor[]) => apply(args))(inputs, tf.tensor(weights, value.shape));
    return { value: await valuesOf(value), gradients: await Promise.all(gradients.map(valuesOf)) };
  } finally {
    tf.engine().endScope();
  }
}

async function valuesOf(tensor: Tensor): Promise<Values> {
  return { shape: tensor.shape, data: Float32Array.from(await tensor.data()) };
}

function relativeError(found: Values, expected: Values): number {
  if (found.shape.join() !== expected.shape.join()) {
    throw new Error(`Shape [${found.shape.join(', ')}] where [${expected.shape.join(', ')}] is expected.`);
  }
  let difference = 0;
  let scale = 0;
  expected.data.forEach((value, i) => {
    difference = worse(difference, Math.abs(found.data[i] - value));
    scale = Math.max(scale, Math.abs(value));
  });
  return scale === 0 ? difference : difference / scale;
}

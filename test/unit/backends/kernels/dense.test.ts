import { describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor, type Variable } from '../../../../workers/tensorflow/tf.ts';

await startBackend('wasm');

type Activation = 'linear' | 'relu' | 'sigmoid' | 'tanh' | 'softplus';

/** 2 inputs, one unit: s = x₀ − x₁ + bias. */
function layer(activation: Activation, bias: number | null = 0) {
  const made = tf.layers.dense({ units: 1, activation, inputShape: [2], useBias: bias !== null });
  made.build([null, 2]);
  made.setWeights([tf.tensor2d([[1], [-1]]), ...(bias === null ? [] : [tf.tensor1d([bias])])]);
  return made;
}

async function opsOf(compute: () => unknown): Promise<string[]> {
  const { kernels } = await tf.profile(() => tf.tidy(() => void compute()));
  return kernels.map(({ name }) => name).sort();
}

describe('a dense layer', () => {
  const x = tf.tensor2d([[3, 1], [1, 3]]); // prettier-ignore
  const run = (activation: Activation, bias: number | null) =>
    tf.tidy(() => [...(layer(activation, bias).apply(x) as Tensor).dataSync()]);

  it('is act(x W + b)', () => {
    expect(run('linear', 0.5)).toEqual([2.5, -1.5]);
    expect(run('linear', null)).toEqual([2, -2]);
    expect(run('relu', 0.5)).toEqual([2.5, 0]);
    const [high, low] = run('sigmoid', 0);
    expect(high).toBeCloseTo(1 / (1 + Math.exp(-2)), 6);
    expect(low).toBeCloseTo(1 / (1 + Math.exp(2)), 6);
    expect(run('tanh', 0)[0]).toBeCloseTo(Math.tanh(2), 6);
    expect(run('softplus', 0)[0]).toBeCloseTo(Math.log1p(Math.exp(2)), 6);
  });

  it('is NaN where an input is NaN', () => {
    const hole = tf.tensor2d([[NaN, 1]]);
    for (const activation of ['linear', 'relu', 'sigmoid', 'tanh'] as const) {
      expect([...(layer(activation).apply(hole) as Tensor).dataSync()]).toEqual([NaN]);
    }
    hole.dispose();
  });

  it('is one op, plus one per requested gradient', async () => {
    const model = tf.sequential({ layers: [layer('sigmoid')] });
    expect(await opsOf(() => model.apply(x))).toEqual(['Dense']);
    const variables = model.trainableWeights.map((weight) => weight.read() as Variable);
    const step = () => tf.variableGrads(() => tf.sum(model.apply(x) as Tensor), variables);
    const ops = (await opsOf(step)).filter((name) => !['Fill', 'Reshape', 'Tile', 'Multiply'].includes(name));
    // The sum belongs to the loss and the bias. x is no variable, so it has no gradient.
    expect(ops).toEqual(['BatchMatMul', 'Dense', 'SigmoidGradient', 'Sum', 'Sum']);
  });

  it('has second-order gradients', () => {
    const linear = layer('linear');
    const f = (value: Tensor): Tensor => tf.sum(tf.square(linear.apply(value) as Tensor));
    // f = Σ (x₀ − x₁)², whose gradient is (2s, −2s). Its sum is 0, and its first column is 2s, with gradient (2, −2).
    const first = tf.grad(f);
    const second = tf.grad((value: Tensor) => tf.sum(tf.slice(first(value), [0, 0], [2, 1])));
    expect([...second(x).dataSync()]).toEqual([2, -2, 2, -2]);
  });

  it('leaks no tensor', () => {
    const made = layer('tanh', 1);
    const before = tf.memory().numTensors;
    tf.dispose(tf.grad((value: Tensor) => tf.sum(made.apply(value) as Tensor))(x));
    tf.dispose(made.apply(x) as Tensor);
    expect(tf.memory().numTensors).toBe(before);
  });
});

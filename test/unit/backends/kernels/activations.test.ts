import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { type Tensor, tf } from '../../../../workers/tensorflow/tf.ts';

/** Values and slopes of torch.nn.functional.gelu and silu in float64. */
const x = [-10, -3, -1, -0.1, 0, 0.1, 1, 3, 10, 100];
const ofPytorch = {
  gelu: {
    values: [0, -0.0040496941, -0.1586552539, -0.0460172163, 0, 0.0539827837, 0.8413447461, 2.9959503059, 10, 100],
    slopes: [0, -0.0119456472, -0.0833154706, 0.420476908, 0.5, 0.579523092, 1.0833154706, 1.0119456472, 1, 1],
  },
  swish: {
    values: [
      -0.0004539787, -0.1422776195, -0.2689414214, -0.0475020813, 0, 0.0524979187, 0.7310585786, 2.8577223805,
      9.999546021, 100,
    ],
    slopes: [
      -0.0004085602, -0.0881041061, 0.0723294881, 0.4500832085, 0.5, 0.5499167915, 0.9276705118, 1.088104106,
      1.0004085602, 1,
    ],
  },
};

function activate(name: string): (values: Tensor) => Tensor {
  const layer = tf.layers.activation({ activation: name as 'relu' });
  layer.apply(tf.input({ shape: [1] }));
  return (values) => layer.apply(values) as Tensor;
}

describe.each(['relaxed', 'deterministic'] as const)('the %s kernels of', (determinism) => {
  beforeAll(async () => void (await startBackend('wasm', { determinism })));

  it.each(['gelu', 'swish'] as const)('%s give values and slopes of PyTorch, at every place of an array', (name) => {
    expect(tf.getKernel(name === 'gelu' ? 'Gelu' : 'Swish', 'wasm')).toBeDefined();
    const apply = activate(name);
    for (let first = 0; first < 5; first++) {
      const given = tf.tensor1d(x.slice(first));
      const slopes = tf.grad((own) => tf.sum(apply(own)))(given);
      const close = (values: number[]) => values.slice(first).map((value) => expect.closeTo(value, 6) as number);
      expect([...apply(given).dataSync()]).toEqual(close(ofPytorch[name].values));
      expect([...slopes.dataSync()]).toEqual(close(ofPytorch[name].slopes));
    }
  });

  it.each(['gelu', 'swish'] as const)('%s keep NaN', (name) => {
    const values = [...activate(name)(tf.tensor1d([1, NaN, 2, 3, NaN])).dataSync()];
    expect(values.map(Number.isNaN)).toEqual([false, true, false, false, true]);
  });

  it.each(['gelu', 'swish'] as const)('%s have a second derivative', (name) => {
    const apply = activate(name);
    const slope = tf.grad((own) => tf.sum(apply(own)));
    const curvature = tf
      .grad((own) => tf.sum(slope(own)))(tf.tensor1d([0]))
      .dataSync()[0];
    // 2 φ(0), and 2 σ'(0).
    expect(curvature).toBeCloseTo(name === 'gelu' ? 2 / Math.sqrt(2 * Math.PI) : 0.5, 5);
  });
});

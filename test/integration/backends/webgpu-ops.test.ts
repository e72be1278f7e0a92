import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { WebgpuBackend } from '../../../workers/backends/webgpu/reads.ts';
import { Generator } from '../../../workers/random/index.ts';
import { tf, type LayersModel, type Tensor, type Variable } from '../../../workers/tensorflow/tf.ts';
import { crossEntropyLoss } from '../../../workers/member/tasks.ts';
import { testWindows } from '../../unit/backends/definitions/test-windows.ts';
import { useSwiftShader } from '../../environment/webgpu.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = await useSwiftShader();
const isNotRun = obstacle !== null;

beforeAll(async () => {
  if (isNotRun) return;
  await startBackend('cpu');
  await startBackend('webgpu');
});

async function on(backend: 'cpu' | 'webgpu', compute: () => Tensor): Promise<{ shape: number[]; values: number[] }> {
  await tf.setBackend(backend);
  const result = tf.tidy(compute);
  return { shape: result.shape, values: [...(await result.data())] };
}

/** `[2, 3, 2, 3, 2]`, or fewer of these axes. */
const input = (rank: number): Tensor => {
  const shape = [2, 3, 2, 3, 2].slice(0, rank);
  return tf.tensor(
    Float32Array.from({ length: tf.util.sizeFromShape(shape) }, (_, i) => ((i * 7) % 11) - 5),
    shape,
  );
};

/** Few values stay on the host, where most ops treat them with other code. This moves them to the GPU unchanged. */
const onGpu = (x: Tensor): Tensor => tf.clipByValue(x, -9, 9);

const pairs = (rank: number): [number, number][] => Array.from({ length: rank }, (_, axis) => [axis % 2, 1]);

describe.skipIf(isNotRun)(`known errors of TensorFlow.js on webgpu${notRun(obstacle)}`, () => {
  it.each<[string, () => Tensor]>([
    ['prod, with its axis kept', () => tf.prod(input(2), 1, true)],
    ['argMax of a vector', () => tf.argMax(onGpu(input(1)))],
    ['reverse cumsum, 2 long', () => tf.cumsum(onGpu(input(3)), 2, false, true)],
    ['reverse cumsum, 3 long', () => tf.cumsum(onGpu(input(2)), 1, true, true)],
    ['reverse cumprod', () => tf.cumprod(onGpu(input(2)), 0, false, true)],
    ['cumsum of five axes', () => tf.cumsum(input(5), 2)],
    ['pad of five axes', () => tf.pad(input(5), pairs(5), 3)],
    ['mirrorPad of five axes', () => tf.mirrorPad(input(5), pairs(5), 'reflect')],
    ['reverse of five axes', () => tf.reverse(input(5), [1, -1])],
    ['tile of five axes', () => tf.tile(input(5), [1, 2, 1, 1, 3])],
    ['where of five axes', () => tf.where(tf.greater(input(5), 0), input(5), tf.neg(input(5)))],
  ])('%s', async (_, compute) => {
    expect(await on('webgpu', compute)).toEqual(await on('cpu', compute));
  });
});

describe.skipIf(isNotRun)(
  `values and gradients, except those of equal maxima, equal those of loops in float64${notRun(obstacle)}`,
  () => {
    beforeAll(() => tf.setBackend('webgpu'));

    // tfjs's max pool gives its gradient to the last of several equal values.
    testWindows({ numRuns: 15, firstOfEqualsWins: false });
  },
);

function createModel(): LayersModel {
  return tf.sequential({
    layers: [
      tf.layers.conv2d({ filters: 3, kernelSize: 3, activation: 'relu', inputShape: [6, 6, 2] }),
      tf.layers.batchNormalization(),
      tf.layers.conv2d({ filters: 4, kernelSize: 2, dilationRate: 2, padding: 'same' }),
      tf.layers.maxPooling2d({ poolSize: 2 }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 3 }),
    ],
  });
}

/** Tensors and GPU bytes, which must not grow from step to step of training (none on the cpu backend). */
function held(): { tensors: number; bytes: number | undefined } {
  const { numTensors, numBytesAllocatedInGPU } = tf.memory() as ReturnType<typeof tf.memory> & {
    numBytesAllocatedInGPU?: number;
  };
  return { tensors: numTensors, bytes: numBytesAllocatedInGPU };
}

/** Losses of five steps of SGD with momentum. The weights and images are the same on every backend. */
async function trainCnn(backend: 'cpu' | 'webgpu'): Promise<number[]> {
  await tf.setBackend(backend);
  const generator = new Generator(1, 'cnn');
  const normal = (shape: number[], scale = 1): Tensor => {
    const values = new Float32Array(tf.util.sizeFromShape(shape));
    generator.fillNormal(values);
    return tf.mul(tf.tensor(values, shape), scale);
  };
  const model = createModel();
  tf.tidy(() =>
    model.setWeights(model.getWeights().map((weight) => (weight.rank > 1 ? normal(weight.shape, 0.3) : weight))),
  );
  const images = normal([4, 6, 6, 2]);
  const labels = tf.tensor1d([0, 2, 1, 2], 'int32');
  const variables = model.trainableWeights.map((weight) => weight.read() as Variable);
  const optimizer = tf.train.momentum(0.05, 0.9);
  const losses: number[] = [];
  const memory: ReturnType<typeof held>[] = [];
  for (let step = 0; step < 5; step++) {
    const loss = optimizer.minimize(
      () => crossEntropyLoss(model.apply(images, { training: true }) as Tensor, labels),
      true,
      variables,
    );
    losses.push((await loss?.data())?.[0] ?? NaN);
    loss?.dispose();
    memory.push(held());
  }
  // The first two steps create the optimizer's slots and fill the pool of buffers.
  expect(memory.slice(3)).toEqual([memory[2], memory[2]]);
  return losses;
}

describe.skipIf(isNotRun)(`a convolutional network${notRun(obstacle)}`, () => {
  it('trains to the losses of the cpu backend without growing memory', async () => {
    const expected = await trainCnn('cpu');
    const losses = await trainCnn('webgpu');
    expect(expected[4]).toBeLessThan(expected[0] / 2);
    losses.forEach((loss, step) => expect(Math.abs(loss / expected[step] - 1), `step ${step}`).toBeLessThan(1e-5));
  });
});

describe.skipIf(isNotRun)(`reads${notRun(obstacle)}`, () => {
  it('that are synchronous name the asynchronous call', async () => {
    await tf.setBackend('webgpu');
    expect(() => onGpu(input(2)).dataSync()).toThrow(
      /cannot read a tensor synchronously\. Call await tensor\.data\(\)/,
    );
    expect(tf.tensor1d([1, 2]).dataSync()).toEqual(Float32Array.of(1, 2));
  });

  it('report what the GPU refused', async () => {
    await tf.setBackend('webgpu');
    const { device } = tf.backend() as unknown as WebgpuBackend & {
      device: { createShaderModule(source: { code: string }): void };
    };
    device.createShaderModule({ code: 'no shader' });
    await expect(onGpu(input(2)).data()).rejects.toThrow(
      /^WebGPU adapter "SwiftShader Device \(Subzero\)" refused an operation of TensorFlow\.js: .+/,
    );
  });
});

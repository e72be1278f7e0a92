import { beforeAll, expect, it } from 'vitest';
import { startBackend, type Backend } from '../../../../workers/backends/backend.ts';
import { Generator } from '../../../../workers/random/index.ts';
import { tf, type Scalar, type Tensor } from '../../../../workers/tensorflow/tf.ts';

let backend: Backend;
beforeAll(async () => void (backend = await startBackend('wasm')));

it('steps of a network with convolutions, pools and normalisation keep the tensors and the heap constant', () => {
  const model = tf.sequential({
    layers: [
      tf.layers.conv2d({ filters: 8, kernelSize: 3, activation: 'relu', inputShape: [12, 12, 3] }),
      tf.layers.batchNormalization(),
      tf.layers.depthwiseConv2d({ kernelSize: 3, strides: 2, padding: 'same', activation: 'relu' }),
      tf.layers.conv2d({ filters: 8, kernelSize: 1 }),
      tf.layers.maxPooling2d({ poolSize: 2 }),
      tf.layers.averagePooling2d({ poolSize: 3, strides: 1, padding: 'same' }),
      tf.layers.globalAveragePooling2d({}),
    ],
  });
  const values = new Float32Array(4 * 12 * 12 * 3);
  new Generator(3, 'images').fillNormal(values);
  const images = tf.tensor(values, [4, 12, 12, 3]);
  const optimizer = tf.train.sgd(0.01);
  const step = () =>
    optimizer.minimize(() => tf.mean<Scalar>(tf.square(model.apply(images, { training: true }) as Tensor)));
  for (let i = 0; i < 20; i++) step();
  const [tensors, bytes] = [tf.memory().numTensors, backend.memoryBytes()];
  for (let i = 0; i < 200; i++) step();
  expect(tf.memory().numTensors).toBe(tensors);
  expect(backend.memoryBytes()).toBe(bytes);
});

import type { Tensor4D } from '@tensorflow/tfjs-core';
import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('wasm')));

it('a window of one pixel over padded images is 0 at the border, and its gradients are those of the interior', () => {
  tf.tidy(() => {
    const x = tf.tensor4d([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 2, 2]);
    const filter = tf.tensor4d([10, 100, 1, 1000], [1, 1, 2, 2]);
    const padding: [[number, number], [number, number], [number, number], [number, number]] = [
      [0, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ];
    const convolve = (x: Tensor4D, filter: Tensor4D): Tensor4D => tf.conv2d(x, filter, 1, padding);
    // Rows: one of padding, then two of images. Columns: two of images, then one of padding.
    const inside = [12, 2100, 34, 4300, 56, 6500, 78, 8700];
    const [above, right] = [
      [0, 0, 0, 0, 0, 0],
      [0, 0],
    ];
    expect([...convolve(x, filter).dataSync()]).toEqual([
      ...above,
      ...inside.slice(0, 4),
      ...right,
      ...inside.slice(4),
      ...right,
    ]);
    const [dx, dFilter] = tf.grads((x, filter) => convolve(x as Tensor4D, filter as Tensor4D).sum())([x, filter]);
    expect([...dx.dataSync()]).toEqual([110, 1001, 110, 1001, 110, 1001, 110, 1001]);
    expect([...dFilter.dataSync()]).toEqual([16, 16, 20, 20]);
  });
});

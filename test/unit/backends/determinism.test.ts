import { expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

it('the deterministic build rounds every product on any processor', async () => {
  const { description } = await startBackend('wasm', { determinism: 'deterministic' });
  expect(description).toMatch(/^wasm \((128|256)-bit SIMD, deterministic, one core\)$/);
  // (1 + 2⁻¹²)² − 1 is 2⁻¹¹ + 2⁻²⁴. The last bit is lost if the square is rounded to float32 before 1 is subtracted.
  const x = 1 + 2 ** -12;
  const product = tf.tidy(() => tf.matMul(tf.tensor2d([[-1, x]]), tf.tensor2d([[1], [x]])).dataSync()[0]);
  expect(product).toBe(2 ** -11);
});

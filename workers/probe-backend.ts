import { startBackend } from './backends/backend.ts';
import { tf } from './tf.ts';

/**
 * Entry of a short process in which `tutti doctor` tries a backend: prints its description and its speed in a product of two
 * 512 x 512 matrices (`2 · 512³` operations each), measured for about 0.3 s.
 */

const size = 512;
const measureMs = 300;

const { description } = await startBackend(process.argv[2] === 'wasm' ? 'wasm' : 'cpu');
const matrix = tf.ones([size, size]);
const multiply = (): void => tf.tidy(() => void tf.matMul(matrix, matrix).dataSync());
multiply();
const startMs = performance.now();
let products = 0;
while (performance.now() - startMs < measureMs) {
  multiply();
  products += 1;
}
const operations = products * 2 * size ** 3;
console.log(JSON.stringify({ description, gflops: operations / (performance.now() - startMs) / 1e6 }));

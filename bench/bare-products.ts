import { startBackend } from '../workers/backends/backend.ts';
import { tf } from '../workers/tensorflow/tf.ts';

/**
 * Multiplies matrices that fit the second-level cache for two seconds, and prints the number of products per second.
 */

const size = 256;
const durationMs = 2000;

await startBackend('wasm');
const [a, b] = [tf.ones([size, size]), tf.ones([size, size])];

const startMs = performance.now();
let products = 0;
for (; performance.now() < startMs + durationMs; products++) tf.matMul(a, b).dispose();
console.log((1000 * products) / (performance.now() - startMs));

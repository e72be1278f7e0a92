import { loadKernels } from '../workers/backends/wasm/kernel-module.ts';

/** Multiplies matrices that fit the second-level cache for two seconds, and prints how many products a second that were. */

const size = 256;
const durationMs = 2000;
const bytes = 4 * size * size;
const pageBytes = 65_536;

const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_536 });
const { kernels } = await loadKernels(memory, 'relaxed');
memory.grow(Math.ceil((4 * bytes + kernels.gemmScratchBytes()) / pageBytes));

const startMs = performance.now();
let products = 0;
for (; performance.now() < startMs + durationMs; products++) {
  kernels.gemm(0, 0, size, size, size, bytes, size, 2 * bytes, size, 3 * bytes, size, 0, 4 * bytes);
}
console.log((1000 * products) / (performance.now() - startMs));

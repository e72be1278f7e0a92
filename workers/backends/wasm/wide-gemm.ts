import { setFlagsFromString } from 'node:v8';
import { createProducts, type Gemm, type MatrixProducts } from './gemm.ts';
import {
  type Determinism,
  type GemmModule,
  type LoadedModule,
  readModule,
  type RecurrentModule,
} from './kernel-module.ts';
import type { TensorMemory } from './memory/tensor-memory.ts';

/** The version of V8 that has these flags: Node 24's. Other versions may not know them. */
const knownV8 = '13.6.';
/**
 * Flags that make V8 compile a module at once, optimize it, and join neighbouring 128-bit instructions to 256-bit ones
 * of AVX2. Only this module is compiled this way: with TensorFlow.js's module too, steps of small models took a tenth
 * longer.
 */
const whileCompiling = ['--experimental-wasm-revectorize', '--no-liftoff', '--no-wasm-lazy-compilation'];
const afterwards = ['--no-experimental-wasm-revectorize', '--liftoff', '--wasm-lazy-compilation'];

/** With fewer multiplications, wide tiles cost more than they save. */
const leastProducts = 2 ** 17;
/**
 * The measured product: whole tiles that fit the second-level cache. V8 optimizes both kernels within a few rounds; all
 * rounds take about 10 ms.
 */
const trial = { m: 48, n: 64, k: 256 };
const trialRounds = 60;

/** Kernels in 256-bit instructions: products in tiles of 6 x 16, and recurrent layers. */
export type WideKernels = LoadedModule<GemmModule & RecurrentModule>;

/** The wide kernels, or null if this V8 cannot compile them, or a measurement shows that they are not faster. */
export async function chooseWideKernels(
  narrow: GemmModule,
  memory: TensorMemory,
  determinism: Determinism,
): Promise<WideKernels | null> {
  if (!process.versions.v8.startsWith(knownV8)) return null;
  const wide = await loadWideKernels(memory.wasmMemory, determinism);
  const [ofWide, ofNarrow] = [wide.exports, narrow].map((kernels) => createProducts(kernels, memory).gemm);
  return isFaster(ofWide, ofNarrow, memory) ? wide : null;
}

/** Products by the wide kernels, with the same bits as those of the narrow ones, which compute small products. */
export function joinProducts(narrow: MatrixProducts, wide: MatrixProducts): MatrixProducts {
  const fitting = (m: number, n: number, k: number) => (m * n * k < leastProducts ? narrow : wide);
  return {
    gemm: (transposeA, transposeB, m, n, k, ...operands) =>
      fitting(m, n, k).gemm(transposeA, transposeB, m, n, k, ...operands),
    prepare: (transposeB, m, n, k, b, ldb) => fitting(m, n, k).prepare(transposeB, m, n, k, b, ldb),
  };
}

/** The module of `workers/kernels/assembly/wide.ts`, compiled to 256-bit instructions. */
export async function loadWideKernels(memory: WebAssembly.Memory, determinism: Determinism): Promise<WideKernels> {
  const module = compile(await readModule(`${determinism}-wide`, memory));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { module, exports: exports as unknown as GemmModule & RecurrentModule };
}

function compile(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  for (const flag of whileCompiling) setFlagsFromString(flag);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    for (const flag of afterwards) setFlagsFromString(flag);
  }
}

/** Compares the shortest time of each, which other processes on the core disturb least. */
function isFaster(one: Gemm, other: Gemm, memory: TensorMemory): boolean {
  const { m, n, k } = trial;
  const floats = m * k + k * n + m * n;
  const a = memory.allocate(4 * floats);
  const [b, c] = [a + 4 * m * k, a + 4 * (m * k + k * n)];
  memory.floats(a, floats).fill(1);
  const measure = (gemm: Gemm): number => {
    const startMs = performance.now();
    gemm(false, false, m, n, k, a, k, b, n, 0, c, n);
    return performance.now() - startMs;
  };
  const leastMs = [Infinity, Infinity];
  for (let round = 0; round < trialRounds; round++) {
    [one, other].forEach((gemm, i) => (leastMs[i] = Math.min(leastMs[i], measure(gemm))));
  }
  memory.free(a);
  return leastMs[0] < leastMs[1];
}

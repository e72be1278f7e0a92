import type { Gemm } from './gemm.ts';
import type { KernelModule } from './kernel-module.ts';
import type { TensorMemory } from './tensor-memory.ts';

/** Whole tiles of both sizes, in the first-level cache. */
const product = { m: 48, n: 64, k: 256 };
/** V8 has compiled both tiles for speed after a few of these; all of them take about 10 ms. */
const rounds = 60;

/**
 * Makes matrix products in the tiles that are faster here, by measurement: wide ones where V8 joins neighbouring 128-bit instructions to
 * 256-bit ones (`--experimental-wasm-revectorize`, on processors with AVX2), narrow ones elsewhere. Both give the same bits.
 *
 * @returns bits of the instructions that the products are made with
 */
export function chooseTiles(kernels: KernelModule, memory: TensorMemory, gemm: Gemm): 128 | 256 {
  const { m, n, k } = product;
  const [sizeOfA, sizeOfB, sizeOfC] = [4 * m * k, 4 * k * n, 4 * m * n];
  const a = memory.allocate(sizeOfA + sizeOfB + sizeOfC);
  memory.floats(a, (sizeOfA + sizeOfB + sizeOfC) / 4).fill(1);
  const [b, c] = [a + sizeOfA, a + sizeOfA + sizeOfB];
  const multiply = (isWide: boolean): number => {
    kernels.useWideTiles(Number(isWide));
    const startMs = performance.now();
    gemm(false, false, m, n, k, a, k, b, n, 0, c, n);
    return performance.now() - startMs;
  };
  const leastMs = { narrow: Infinity, wide: Infinity };
  for (let round = 0; round < rounds; round++) {
    leastMs.narrow = Math.min(leastMs.narrow, multiply(false));
    leastMs.wide = Math.min(leastMs.wide, multiply(true));
  }
  memory.free(a);
  const isWide = leastMs.wide < leastMs.narrow;
  kernels.useWideTiles(Number(isWide));
  return isWide ? 256 : 128;
}

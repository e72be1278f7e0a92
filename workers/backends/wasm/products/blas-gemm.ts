import type { SystemBlas } from '../../blas/system-blas.ts';
import type { Gemm } from './gemm.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

/** Smaller products are left to own kernels: calling out of JavaScript takes longer than they do. */
const leastMultiplications = 1000;

/** Matrix products by a system's BLAS, in place on the backend's memory. */
export function createBlasGemm(blas: SystemBlas, memory: TensorMemory, own: Gemm): Gemm {
  let { buffer } = memory.wasmMemory;
  let base = blas.addressOf(buffer);
  return (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) => {
    if (m * n * k < leastMultiplications) {
      return own(transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc);
    }
    // A memory that has grown has another buffer, and may lie elsewhere.
    if (buffer !== memory.wasmMemory.buffer) {
      buffer = memory.wasmMemory.buffer;
      base = blas.addressOf(buffer);
    }
    blas.sgemm(transposeA, transposeB, m, n, k, base + a, lda, base + b, ldb, beta, base + c, ldc);
  };
}

import type { GemmModule } from '../kernel-module.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';
import type { SystemBlas } from '../../blas/system-blas.ts';

/**
 * C ← op(A) op(B) + βC in float32, row major: op(A) is `m x k`, op(B) `k x n`, C `m x n`; op(X) = Xᵀ if X is transposed, else X. `a`, `b` and `c` are
 * addresses in the backend's memory; `lda`, `ldb` and `ldc` are the distances between stored rows, in values. m, n and k are at least 1.
 */
export type Gemm = (
  transposeA: boolean,
  transposeB: boolean,
  m: number,
  n: number,
  k: number,
  a: number,
  lda: number,
  b: number,
  ldb: number,
  beta: 0 | 1,
  c: number,
  ldc: number,
) => void;

/** Matrix products by Tutti's kernel. Its scratch space is allocated once and never freed. */
export function createGemm(kernels: GemmModule, memory: TensorMemory): Gemm {
  const scratch = memory.allocate(kernels.gemmScratchBytes());
  return (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) =>
    kernels.gemm(Number(transposeA), Number(transposeB), m, n, k, a, lda, b, ldb, c, ldc, beta, scratch);
}

/** Tutti's kernels compute smaller products, because a call from JavaScript to native code takes longer. */
const leastMultiplications = 1000;

/** Matrix products by the system's BLAS, directly in the backend's memory. */
export function createBlasGemm(blas: SystemBlas, memory: TensorMemory, own: Gemm): Gemm {
  let { buffer } = memory.wasmMemory;
  let base = blas.addressOf(buffer);
  return (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) => {
    if (m * n * k < leastMultiplications) {
      return own(transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc);
    }
    // When the memory grows, it gets a new buffer and may move.
    if (buffer !== memory.wasmMemory.buffer) {
      buffer = memory.wasmMemory.buffer;
      base = blas.addressOf(buffer);
    }
    blas.sgemm(transposeA, transposeB, m, n, k, base + a, lda, base + b, ldb, beta, base + c, ldc);
  };
}

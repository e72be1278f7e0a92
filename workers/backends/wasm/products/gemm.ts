import type { GemmModule } from '../kernel-module.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

/**
 * C ← op(A) op(B) + βC on float32 rows: op(A) `m x k`, op(B) `k x n`, C `m x n`, with op(X) = Xᵀ where X is transposed. `a`, `b` and `c` are
 * addresses in the backend's memory; `lda`, `ldb` and `ldc` the distances of rows as stored, in values. m, n and k are at least 1.
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

/** Tutti's own kernel. Its scratch space is allocated once, for good. */
export function createGemm(kernels: GemmModule, memory: TensorMemory): Gemm {
  const scratch = memory.allocate(kernels.gemmScratchBytes());
  return (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) =>
    kernels.gemm(Number(transposeA), Number(transposeB), m, n, k, a, lda, b, ldb, c, ldc, beta, scratch);
}

import type { GemmModule } from './kernel-module.ts';
import type { TensorMemory } from './memory/tensor-memory.ts';
import type { SystemBlas } from '../blas/system-blas.ts';

/**
 * C ← op(A) op(B) + βC in float32, row major: op(A) is `m x k`, op(B) `k x n`, C `m x n`; op(X) = Xᵀ if X is
 * transposed, else X. `a`, `b` and `c` are addresses in the backend's memory; `lda`, `ldb` and `ldc` are the distances
 * between stored rows, in values. m, n and k are at least 1.
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

/** A product C ← A op(B) + βC with always the same op(B) and the same m. */
export interface PreparedProduct {
  multiply(a: number, lda: number, beta: 0 | 1, c: number, ldc: number): void;
  /** Must be called once. */
  free(): void;
}

/** The ways to compute matrix products. */
export interface MatrixProducts {
  readonly gemm: Gemm;
  /** Prepares products with a matrix B that does not change before {@link PreparedProduct.free}. */
  readonly prepare: (transposeB: boolean, m: number, n: number, k: number, b: number, ldb: number) => PreparedProduct;
}

/** Matrix products by Tutti's kernel. Its scratch space is allocated once and never freed. */
export function createProducts(kernels: GemmModule, memory: TensorMemory): MatrixProducts {
  const scratch = memory.allocate(kernels.gemmScratchBytes());
  return {
    gemm: (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) =>
      kernels.gemm(Number(transposeA), Number(transposeB), m, n, k, a, lda, b, ldb, c, ldc, beta, scratch),
    prepare: (transposeB, m, n, k, b, ldb) => {
      const packed = memory.allocate(kernels.packedBytes(n, k));
      kernels.packMatrix(Number(transposeB), n, k, b, ldb, packed);
      return {
        multiply: (a, lda, beta, c, ldc) => kernels.multiplyPacked(m, n, k, a, lda, packed, c, ldc, beta, scratch),
        free: () => memory.free(packed),
      };
    },
  };
}

/** Tutti's kernels compute smaller products, because a call from JavaScript to native code takes longer. */
const leastMultiplications = 1000;

/** Matrix products by the system's BLAS, directly in the backend's memory. */
export function createBlasProducts(blas: SystemBlas, memory: TensorMemory, own: MatrixProducts): MatrixProducts {
  let { buffer } = memory.wasmMemory;
  let base = blas.addressOf(buffer);
  const gemm: Gemm = (transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc) => {
    if (m * n * k < leastMultiplications) {
      return own.gemm(transposeA, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc);
    }
    // When the memory grows, it gets a new buffer and may move.
    if (buffer !== memory.wasmMemory.buffer) {
      buffer = memory.wasmMemory.buffer;
      base = blas.addressOf(buffer);
    }
    blas.sgemm(transposeA, transposeB, m, n, k, base + a, lda, base + b, ldb, beta, base + c, ldc);
  };
  // cblas has no packed operands.
  const prepare: MatrixProducts['prepare'] = (transposeB, m, n, k, b, ldb) => ({
    multiply: (a, lda, beta, c, ldc) => gemm(false, transposeB, m, n, k, a, lda, b, ldb, beta, c, ldc),
    free: () => {},
  });
  return { gemm, prepare };
}

import type { LibraryHandle } from 'koffi';
import type { Blas, BlasKind } from '../../../core/protocol/machine/blas.ts';

/**
 * C ← A·B + β·C, single precision, row major, by the operands' addresses in this process. A is `[m, k]`, or `[k, m]` where it is to be
 * transposed; B `[k, n]` or `[n, k]`; C `[m, n]`. The leading dimensions are the distances between rows, in elements.
 */
export type Sgemm = (
  transposeA: boolean,
  transposeB: boolean,
  m: number,
  n: number,
  k: number,
  a: number,
  rowA: number,
  b: number,
  rowB: number,
  beta: number,
  c: number,
  rowC: number,
) => void;

export interface SystemBlas {
  /** For people, e.g. `OpenBLAS (SkylakeX)`. */
  readonly description: string;
  readonly sgemm: Sgemm;
  /** The address of a buffer's first byte. It holds until the buffer is detached, as a WebAssembly memory's is when it grows. */
  readonly addressOf: (buffer: ArrayBufferLike) => number;
}

/** A worker owns one core, whichever it is bound to. */
const threads = '1';

/** Read by the libraries when they are loaded: OpenBLAS would start a thread for every core before it could be told. */
const environment = {
  OPENBLAS_NUM_THREADS: threads,
  OMP_NUM_THREADS: threads,
  BLIS_NUM_THREADS: threads,
  MKL_NUM_THREADS: threads,
  MKL_THREADING_LAYER: 'SEQUENTIAL',
  VECLIB_MAXIMUM_THREADS: threads,
};

/** Values of `cblas.h`. */
const rowMajor = 101;
const plain = 111;
const transposed = 112;

/**
 * Loads a system's BLAS into this process, for one thread. A process loads one at most: OpenBLAS reads the processor to compute for
 * only once.
 * @throws when koffi, the library or its `cblas_sgemm` is not to be had
 */
export async function loadBlas(blas: Blas): Promise<SystemBlas> {
  Object.assign(process.env, environment, blas.coreType === null ? {} : { OPENBLAS_CORETYPE: blas.coreType });
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(blas.library);
    return {
      description: describe(blas.kind, library),
      sgemm: bindSgemm(library),
      addressOf: (buffer) => Number(koffi.address(new Uint8Array(buffer))),
    };
  } catch (error) {
    throw new Error(describeFailure(blas, error), { cause: error });
  }
}

function describeFailure({ kind, library }: Blas, error: unknown): string {
  const isWithoutKoffi = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  const reason = isWithoutKoffi
    ? 'the package koffi, which calls it, is not installed (npm ci --include=optional does)'
    : error instanceof Error
      ? error.message
      : String(error);
  return `${kind} (${library}) cannot be used: ${reason}. --blas off trains with Tutti's own kernels.`;
}

/** Addresses go as numbers, which costs 0.18 µs a call; views of the memory would have to be made for each. */
function bindSgemm(library: LibraryHandle): Sgemm {
  const flags = ['int', 'int', 'int'];
  const sizes = ['int', 'int', 'int'];
  const operands = ['float', 'uintptr_t', 'int', 'uintptr_t', 'int', 'float', 'uintptr_t', 'int'];
  const call = library.func('cblas_sgemm', 'void', [...flags, ...sizes, ...operands]);
  const order = (isTransposed: boolean): number => (isTransposed ? transposed : plain);
  return (transposeA, transposeB, m, n, k, a, rowA, b, rowB, beta, c, rowC) => {
    call(rowMajor, order(transposeA), order(transposeB), m, n, k, 1, a, rowA, b, rowB, beta, c, rowC);
  };
}

/** With the processor that the library computes for, where it tells. */
function describe(kind: BlasKind, library: LibraryHandle): string {
  const core = cores[kind]?.(library);
  return core === undefined ? kind : `${kind} (${core})`;
}

const cores: Partial<Record<BlasKind, (library: LibraryHandle) => string>> = {
  OpenBLAS: (library) => String(library.func('const char *openblas_get_corename()')()),
  BLIS: (library) =>
    String(library.func('const char *bli_arch_string(int id)')(library.func('int bli_arch_query_id()')())),
};

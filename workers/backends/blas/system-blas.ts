import type { LibraryHandle } from 'koffi';
import { basename } from 'node:path';
import { type Blas, type BlasKind, ownBlasName } from '../../../core/protocol/machine/devices.ts';

/**
 * C ← A·B + β·C in single precision, row major. a, b and c are addresses in this process. A is `[m, k]`, stored as
 * `[k, m]` if it is to be transposed; B is `[k, n]`, stored as `[n, k]`; C is `[m, n]`. rowA, rowB and rowC are the
 * distances between rows, in elements.
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
  /** The name for people, e.g. `OpenBLAS (SkylakeX)`. */
  readonly description: string;
  readonly sgemm: Sgemm;
  /**
   * The address of a buffer's first byte. It holds until the buffer is detached, as a WebAssembly memory's is when it
   * grows.
   */
  readonly addressOf: (buffer: ArrayBufferLike) => number;
}

/** A worker has one core. */
const threads = '1';

/**
 * Variables that the libraries read when they load. Later is too late: OpenBLAS starts a thread for every core at once.
 */
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
 * Loads a BLAS into this process, for one thread. A process can load one library only: OpenBLAS reads
 * OPENBLAS_CORETYPE once.
 * @throws Error if koffi, the library or its `cblas_sgemm` is missing
 */
export async function loadBlas(blas: Blas): Promise<SystemBlas> {
  Object.assign(process.env, environment, blas.coreType === null ? {} : { OPENBLAS_CORETYPE: blas.coreType });
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(blas.library);
    // So that several copies of OpenBLAS can be in one process, this one has other names.
    const prefix = basename(blas.library) === ownBlasName(process.platform) ? 'scipy_' : '';
    return {
      description: describe(blas.kind, library, prefix),
      sgemm: bindSgemm(library, prefix),
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

/** Passes addresses as numbers: 0.18 µs per call. Views of the memory would have to be created for each call. */
function bindSgemm(library: LibraryHandle, prefix: string): Sgemm {
  const flags = ['int', 'int', 'int'];
  const sizes = ['int', 'int', 'int'];
  const operands = ['float', 'uintptr_t', 'int', 'uintptr_t', 'int', 'float', 'uintptr_t', 'int'];
  const call = library.func(`${prefix}cblas_sgemm`, 'void', [...flags, ...sizes, ...operands]);
  const order = (isTransposed: boolean): number => (isTransposed ? transposed : plain);
  return (transposeA, transposeB, m, n, k, a, rowA, b, rowB, beta, c, rowC) => {
    call(rowMajor, order(transposeA), order(transposeB), m, n, k, 1, a, rowA, b, rowB, beta, c, rowC);
  };
}

/** The library's name, with the processor that it computes for, if it reports one. */
function describe(kind: BlasKind, library: LibraryHandle, prefix: string): string {
  const core = cores[kind]?.(library, prefix);
  return core === undefined ? kind : `${kind} (${core})`;
}

const cores: Partial<Record<BlasKind, (library: LibraryHandle, prefix: string) => string>> = {
  OpenBLAS: (library, prefix) => String(library.func(`const char *${prefix}openblas_get_corename()`)()),
  BLIS: (library) =>
    String(library.func('const char *bli_arch_string(int id)')(library.func('int bli_arch_query_id()')())),
};

import type { LibraryHandle } from 'koffi';
import { CollectiveError } from '../../../core/protocol/wire/collectives.ts';
import { type Koffi, loadKoffi } from '../../system/libc.ts';

/** Where a library keeps the handles of MPI's predefined objects, and what its constants are. */
interface MpiTable {
  name: 'MPI-5 ABI' | 'Open MPI' | 'MPICH';
  /** Size of a handle in memory: MPICH's are integers, all others pointers. */
  handleBytes: 4 | 8;
  world: number;
  byte: number;
  noInfo: number;
  errorsReturn: number;
  /** `MPI_COMM_TYPE_SHARED`: ranks that can share memory. */
  sharedType: number;
  /** `MPI_THREAD_FUNNELED`: only the thread that started MPI calls it. */
  funneled: number;
  /** `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`. */
  noStatus: number;
}

/** Addresses of a library's symbols. Null where it has none of that name. */
type FindSymbol = (name: string) => number | null;

/** `mpi_abi.h` of MPI 5.0, chapter 20. */
const standardAbi: MpiTable = {
  name: 'MPI-5 ABI',
  handleBytes: 8,
  world: 0x101,
  byte: 0x247,
  noInfo: 0x130,
  errorsReturn: 0x142,
  sharedType: 221,
  funneled: 1024,
  noStatus: 0,
};

/** `mpi.h` of MPICH 3 and later, and of the libraries with its ABI: Intel MPI, MVAPICH, Cray MPICH. */
const mpich: MpiTable = {
  name: 'MPICH',
  handleBytes: 4,
  world: 0x4400_0000,
  byte: 0x4c00_010d,
  noInfo: 0x1c00_0000,
  errorsReturn: 0x5400_0001,
  sharedType: 1,
  funneled: 1,
  noStatus: 1,
};

/**
 * The table of a library, by the symbols that it has: the functions of the standard ABI under its name, Open MPI's
 * objects, whose addresses are the handles, or else MPICH's integers.
 * @param isStandard whether the library was opened under the standard's name, `libmpi_abi`
 */
export function tableOf(find: FindSymbol, isStandard: boolean): MpiTable {
  if (isStandard && find('MPI_Abi_get_version') !== null) return standardAbi;
  const world = find('ompi_mpi_comm_world');
  return world === null ? mpich : openMpi(find, world);
}

/** `mpi.h` of Open MPI: `#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_world)`. */
function openMpi(find: FindSymbol, world: number): MpiTable {
  const address = (name: string): number => {
    const found = find(name);
    if (found === null) throw new Error(`This Open MPI has no ${name}; use version 3 or later.`);
    return found;
  };
  return {
    name: 'Open MPI',
    handleBytes: 8,
    world,
    byte: address('ompi_mpi_byte'),
    noInfo: address('ompi_mpi_info_null'),
    errorsReturn: address('ompi_mpi_errors_return'),
    sharedType: 0,
    funneled: 1,
    noStatus: 0,
  };
}

/** The libraries to try, best first: the standard ABI, Open MPI 4 and 5, MPICH and the libraries with its ABI. */
const standardNames = ['libmpi_abi.so.1', 'libmpi_abi.so.0', 'libmpi_abi.so'];
const names = [...standardNames, 'libmpi.so.40', 'libmpich.so.12', 'libmpi.so.12', 'libmpi.so'];
/**
 * The same where a launcher with the PMI of MPICH has started the process: Open MPI would start it as a world of one.
 */
const namesUnderPmi = [...standardNames, 'libmpich.so.12', 'libmpi.so.12', 'libmpi.so.40', 'libmpi.so'];

/** Longer than any library's `MPI_MAX_ERROR_STRING` and, for the first line, than its version. */
const textBytes = 8192;

/** The arguments of each function that Tutti calls: words are addresses and handles, all of which a register holds. */
const signatures = {
  MPI_Init_thread: ['word', 'word', 'int', 'word'],
  MPI_Initialized: ['word'],
  MPI_Finalize: [],
  MPI_Abort: ['word', 'int'],
  MPI_Error_string: ['int', 'word', 'word'],
  MPI_Get_library_version: ['word', 'word'],
  MPI_Comm_rank: ['word', 'word'],
  MPI_Comm_size: ['word', 'word'],
  MPI_Comm_set_errhandler: ['word', 'word'],
  MPI_Comm_split: ['word', 'int', 'int', 'word'],
  MPI_Comm_split_type: ['word', 'int', 'int', 'word', 'word'],
  MPI_Allgather: ['word', 'int', 'word', 'word', 'int', 'word', 'word'],
  MPI_Ibarrier: ['word', 'word'],
  MPI_Win_allocate_shared: ['word', 'int', 'word', 'word', 'word', 'word'],
  MPI_Win_shared_query: ['word', 'int', 'word', 'word', 'word'],
  MPI_Win_lock_all: ['int', 'word'],
  MPI_Win_sync: ['word'],
  MPI_Win_unlock_all: ['word'],
  MPI_Win_free: ['word'],
  MPI_Isend: ['word', 'int', 'word', 'int', 'int', 'word', 'word'],
  MPI_Irecv: ['word', 'int', 'word', 'int', 'int', 'word', 'word'],
  MPI_Test: ['word', 'word', 'word'],
  MPI_Testall: ['int', 'word', 'word', 'word'],
} as const;
type MpiFunction = keyof typeof signatures;

/** Memory at a fixed address, which MPI may use after a call has returned. */
export interface NativeBuffer {
  address: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** An MPI library in this process. All calls return at once or end soon, except those that say so. */
export class MpiLibrary {
  readonly table: MpiTable;
  /** File name: `libmpi.so.40`. */
  readonly file: string;
  readonly #koffi: Koffi;
  readonly #functions: Record<MpiFunction, (...values: number[]) => number>;
  readonly #yield: () => number;
  readonly #scratch: NativeBuffer;

  /**
   * Opens the first library that is there, before the world is started.
   * @param env of this process: the launcher's variables, and TUTTI_MPI_LIBRARY, which names a library
   * @throws Error if koffi or all libraries are missing
   */
  static async open(env: Readonly<Record<string, string | undefined>> = process.env): Promise<MpiLibrary> {
    const koffi = await loadKoffi('MPI');
    const named = env.TUTTI_MPI_LIBRARY;
    const isUnderPmi = env.PMI_RANK !== undefined && env.OMPI_COMM_WORLD_RANK === undefined;
    const candidates = named === undefined ? (isUnderPmi ? namesUnderPmi : names) : [named];
    const failures: string[] = [];
    for (const file of candidates) {
      try {
        // Open MPI loads its components itself, which need the library's symbols.
        return new MpiLibrary(koffi, koffi.load(file, { global: true }), file);
      } catch (error) {
        failures.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Error(
      `No MPI library can be used: ${failures.join('; ')}. Install Open MPI or MPICH, or set TUTTI_MPI_LIBRARY ` +
        "to the library's path.",
    );
  }

  private constructor(koffi: Koffi, library: LibraryHandle, file: string) {
    this.#koffi = koffi;
    this.file = file;
    const find = (name: string): number | null => {
      try {
        return Number(koffi.address(library.symbol(name)));
      } catch {
        return null; // The library lacks it, which tells the libraries apart.
      }
    };
    this.table = tableOf(find, file.includes('libmpi_abi'));
    this.#functions = bind(library);
    this.#yield = koffi.load(null).func('sched_yield', 'int', []) as () => number;
    this.#scratch = this.allocate(textBytes);
  }

  allocate(byteLength: number): NativeBuffer {
    // The smallest arrays may lie in V8's heap, which moves.
    const bytes = new Uint8Array(Math.max(byteLength, 128));
    return { bytes, address: this.addressOf(bytes) };
  }

  /** Address of an array's first byte. The array must stay referenced while MPI uses it. */
  addressOf(array: ArrayBufferView): number {
    return Number(this.#koffi.address(array));
  }

  /** The bytes at an address that stays: memory of the library. */
  view(address: number, byteLength: number): ArrayBuffer {
    return this.#koffi.view(address, byteLength);
  }

  /** Calls a function. @throws CollectiveError with the library's text if it fails */
  call(name: MpiFunction, ...values: number[]): void {
    const code = this.#functions[name](...values);
    if (code !== 0) throw new CollectiveError(`${name} failed: ${this.#errorText(code)}`);
  }

  /** Calls a function that writes an `int` to its last argument. */
  readInt(name: MpiFunction, ...values: number[]): number {
    const { address, bytes } = this.#scratch;
    this.call(name, ...values, address);
    return new Int32Array(bytes.buffer, 0, 1)[0];
  }

  /** Calls a function that writes a handle to its last argument. */
  readHandle(name: MpiFunction, ...values: number[]): number {
    const { address, bytes } = this.#scratch;
    this.call(name, ...values, address);
    if (this.table.handleBytes === 4) return new Uint32Array(bytes.buffer, 0, 1)[0];
    return Number(new BigUint64Array(bytes.buffer, 0, 1)[0]);
  }

  /**
   * Makes memory that the ranks of a communicator share, all of it with rank 0. They must run on one node. Waits until
   * all have called it.
   * @returns the window's handle
   */
  allocateShared(communicator: number, byteLength: number): number {
    const { address } = this.#scratch;
    return this.readHandle('MPI_Win_allocate_shared', byteLength, 1, this.table.noInfo, communicator, address + 64);
  }

  /** Address of the memory of {@link allocateShared} in this process. */
  addressOfShared(window: number): number {
    const { address, bytes } = this.#scratch;
    this.call('MPI_Win_shared_query', window, 0, address, address + 8, address + 16);
    return Number(new BigUint64Array(bytes.buffer, 16, 1)[0]);
  }

  /** Frees the memory of {@link allocateShared}. Waits until all ranks have called it. */
  freeShared(window: number): void {
    const { address, bytes } = this.#scratch;
    if (this.table.handleBytes === 4) new Uint32Array(bytes.buffer, 0, 1)[0] = window;
    else new BigUint64Array(bytes.buffer, 0, 1)[0] = BigInt(window);
    this.call('MPI_Win_free', address);
  }

  /** The library's own name and version: `Open MPI v4.1.4`. */
  version(): string {
    const { address } = this.#scratch;
    this.call('MPI_Get_library_version', address, address + textBytes - 8);
    const [first] = this.#text().split('\n');
    const [name] = first.split(',');
    return name.replace('Version:', '').replace(/\s+/g, ' ').trim();
  }

  /** Lets another process run that waits for this one's core. */
  yield(): void {
    this.#yield();
  }

  #errorText(code: number): string {
    const { address } = this.#scratch;
    this.#functions.MPI_Error_string(code, address, address + textBytes - 8);
    return this.#text();
  }

  #text(): string {
    const { bytes } = this.#scratch;
    return Buffer.from(bytes.subarray(0, bytes.indexOf(0))).toString();
  }
}

function bind(library: LibraryHandle): Record<MpiFunction, (...values: number[]) => number> {
  const types = { word: 'uintptr_t', int: 'int' };
  const bound = Object.entries(signatures).map(([name, values]) => [
    name,
    library.func(
      name,
      'int',
      values.map((value) => types[value]),
    ),
  ]);
  return Object.fromEntries(bound) as Record<MpiFunction, (...values: number[]) => number>;
}

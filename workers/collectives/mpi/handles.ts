/** Where a library keeps the handles of MPI's predefined objects, and what its constants are. */
export interface MpiTable {
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
export type FindSymbol = (name: string) => number | null;

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

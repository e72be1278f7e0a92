import { describe, expect, it } from 'vitest';
import { tableOf } from '../../../workers/collectives/mpi/library.ts';

const symbols =
  (known: Record<string, number>) =>
  (name: string): number | null =>
    known[name] ?? null;

const openMpi = { ompi_mpi_comm_world: 1, ompi_mpi_byte: 2, ompi_mpi_info_null: 3, ompi_mpi_errors_return: 4 };

describe('the handles of an MPI library', () => {
  it('are the constants of the standard ABI where the library has it', () => {
    // mpi.h of the MPI Forum's ABI stubs, version 5.0.
    expect(tableOf(symbols({ MPI_Abi_get_version: 1 }), true)).toEqual({
      name: 'MPI-5 ABI',
      handleBytes: 8,
      world: 0x101,
      byte: 0x247,
      noInfo: 0x130,
      errorsReturn: 0x142,
      sharedType: 221,
      funneled: 1024,
      noStatus: 0,
    });
  });

  it("are addresses of Open MPI's symbols, also where it has functions of the ABI under another name", () => {
    expect(tableOf(symbols({ ...openMpi, MPI_Abi_get_version: 9 }), false)).toMatchObject({
      name: 'Open MPI',
      handleBytes: 8,
      world: 1,
      byte: 2,
      noInfo: 3,
      errorsReturn: 4,
    });
  });

  it('are integers in MPICH', () => {
    expect(tableOf(symbols({}), false)).toMatchObject({
      name: 'MPICH',
      handleBytes: 4,
      world: 0x44000000,
      noStatus: 1,
    });
  });

  it('are refused for an Open MPI without them', () => {
    expect(() => tableOf(symbols({ ompi_mpi_comm_world: 1 }), false)).toThrow(
      'This Open MPI has no ompi_mpi_byte; use version 3 or later.',
    );
  });
});

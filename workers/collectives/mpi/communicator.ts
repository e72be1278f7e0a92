import type { MpiLibrary } from './library.ts';
import type { Requests } from './requests.ts';

/**
 * A group of MPI's ranks. Numbers of ranks are those inside it. Only bytes travel: Tutti itself adds, in the order of
 * ranks.
 */
export class Communicator {
  readonly rank: number;
  readonly size: number;
  readonly #mpi: MpiLibrary;
  readonly #handle: number;

  constructor(mpi: MpiLibrary, handle: number) {
    this.#mpi = mpi;
    this.#handle = handle;
    mpi.call('MPI_Comm_set_errhandler', handle, mpi.table.errorsReturn);
    this.rank = mpi.readInt('MPI_Comm_rank', handle);
    this.size = mpi.readInt('MPI_Comm_size', handle);
  }

  /** The ranks that pass the same `color`, in the order of their keys. Waits until all have called it. */
  split(color: number, key: number): Communicator {
    return new Communicator(this.#mpi, this.#mpi.readHandle('MPI_Comm_split', this.#handle, color, key));
  }

  /** The ranks of this one's node, in the order of their ranks here. Waits until all have called it. */
  splitByNode(): Communicator {
    const { sharedType, noInfo } = this.#mpi.table;
    return new Communicator(
      this.#mpi,
      this.#mpi.readHandle('MPI_Comm_split_type', this.#handle, sharedType, this.rank, noInfo),
    );
  }

  /** Every rank's value, an integer of 32 bits. Waits until all have called it. */
  gather(value: number): number[] {
    const [own, all] = [this.#mpi.allocate(4), this.#mpi.allocate(4 * this.size)];
    new Int32Array(own.bytes.buffer)[0] = value;
    const { byte } = this.#mpi.table;
    this.#mpi.call('MPI_Allgather', own.address, 4, byte, all.address, 4, byte, this.#handle);
    return [...new Int32Array(all.bytes.buffer, 0, this.size)];
  }

  /**
   * A window of memory that the ranks share, who all run on one node. Waits until all have called it.
   * @returns its handle
   */
  allocateShared(byteLength: number): number {
    return this.#mpi.allocateShared(this.#handle, this.rank === 0 ? byteLength : 0);
  }

  /** Begins to wait until all ranks have called it. */
  barrier(requests: Requests): void {
    this.#mpi.call('MPI_Ibarrier', this.#handle, requests.next());
  }

  /** Begins to send bytes to a rank. They must not change before `requests` are done. */
  send(address: number, bytes: number, to: number, tag: number, requests: Requests): void {
    this.#mpi.call('MPI_Isend', address, bytes, this.#mpi.table.byte, to, tag, this.#handle, requests.next());
  }

  /** Begins to receive a message of at most `bytes` bytes from a rank. */
  receive(address: number, bytes: number, from: number, tag: number, requests: Requests): void {
    this.#mpi.call('MPI_Irecv', address, bytes, this.#mpi.table.byte, from, tag, this.#handle, requests.next());
  }

  /** Ends all processes of the communicator. */
  abort(code: number): void {
    this.#mpi.call('MPI_Abort', this.#handle, code);
  }
}

import { type DataType, viewArray } from '../../../core/protocol/wire/arrays.ts';
import type { CollectiveArray } from '../../../core/protocol/wire/collectives.ts';
import type { LargeWait } from '../memory/slot-exchange.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary } from './library.ts';
import { Requests } from './requests.ts';
import { waitFor } from './wait.ts';

/** Memory that the ranks of one node share, in which they read each other's arrays: a window of MPI. */
export class NodeMemory {
  readonly byteLength: number;
  readonly #mpi: MpiLibrary;
  readonly #node: Communicator;
  readonly #window: number;
  readonly #buffer: ArrayBuffer;
  readonly #requests: Requests;

  /** Waits until all ranks of the node have called it. @param node the ranks of this node */
  constructor(mpi: MpiLibrary, node: Communicator, byteLength: number) {
    this.byteLength = byteLength;
    this.#mpi = mpi;
    this.#node = node;
    this.#window = node.allocateShared(byteLength);
    this.#buffer = mpi.view(mpi.addressOfShared(this.#window), byteLength);
    this.#requests = new Requests(mpi, 1);
    mpi.call('MPI_Win_lock_all', 0, this.#window);
  }

  /** An array in this memory. @param offset in bytes, a multiple of the size of its elements */
  at(offset: number, dataType: DataType, length: number): CollectiveArray {
    return viewArray(dataType, this.#buffer, offset, length);
  }

  /** Resolves once all ranks of the node have called it. Each then sees what the others wrote before. */
  async barrier({ isAwaited, advanced }: LargeWait): Promise<void> {
    this.#mpi.call('MPI_Win_sync', this.#window);
    this.#node.barrier(this.#requests);
    await waitFor(this.#mpi, () => this.#requests.areDone(), isAwaited);
    this.#mpi.call('MPI_Win_sync', this.#window);
    advanced();
  }

  /** Waits until all ranks of the node have called it. */
  free(): void {
    this.#mpi.call('MPI_Win_unlock_all', this.#window);
    this.#mpi.freeShared(this.#window);
  }
}

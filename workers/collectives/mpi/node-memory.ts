import { type DataType, viewArray } from '../../../core/protocol/wire/arrays.ts';
import type { CollectiveArray } from '../../../core/protocol/wire/collectives.ts';
import type { LargeWait } from '../memory/slot-exchange.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary } from './library.ts';
import { Requests } from './requests.ts';
import { waitFor } from './wait.ts';

/** Memory in which the ranks of one node read each other's arrays. */
export class NodeMemory {
  readonly #buffer: ArrayBuffer;
  /** Null for a rank that is alone on its node. */
  readonly #window: SharedWindow | null;

  /** Waits until all ranks of the node have called it. @param node the ranks of this node */
  static create(mpi: MpiLibrary, node: Communicator, byteLength: number): NodeMemory {
    if (node.size === 1) return new NodeMemory(new ArrayBuffer(byteLength), null);
    const window = new SharedWindow(mpi, node, byteLength);
    return new NodeMemory(window.buffer, window);
  }

  private constructor(buffer: ArrayBuffer, window: SharedWindow | null) {
    this.#buffer = buffer;
    this.#window = window;
  }

  get byteLength(): number {
    return this.#buffer.byteLength;
  }

  /** An array in this memory. @param offset in bytes, a multiple of the size of its elements */
  at(offset: number, dataType: DataType, length: number): CollectiveArray {
    return viewArray(dataType, this.#buffer, offset, length);
  }

  /** Resolves once all ranks of the node have called it. Each then sees what the others wrote before. */
  async barrier(wait: LargeWait): Promise<void> {
    await this.#window?.barrier(wait);
  }

  /** Waits until all ranks of the node have called it. */
  free(): void {
    this.#window?.free();
  }
}

/** A window of MPI: memory that several processes share. */
class SharedWindow {
  readonly buffer: ArrayBuffer;
  readonly #mpi: MpiLibrary;
  readonly #node: Communicator;
  readonly #window: number;
  readonly #requests: Requests;

  constructor(mpi: MpiLibrary, node: Communicator, byteLength: number) {
    this.#mpi = mpi;
    this.#node = node;
    this.#window = node.allocateShared(byteLength);
    this.buffer = mpi.view(mpi.addressOfShared(this.#window), byteLength);
    this.#requests = new Requests(mpi, 1);
    mpi.call('MPI_Win_lock_all', 0, this.#window);
  }

  async barrier({ isAwaited, advanced }: LargeWait): Promise<void> {
    this.#mpi.call('MPI_Win_sync', this.#window);
    this.#node.barrier(this.#requests);
    await waitFor(this.#mpi, () => this.#requests.areDone(), isAwaited);
    this.#mpi.call('MPI_Win_sync', this.#window);
    advanced();
  }

  free(): void {
    this.#mpi.call('MPI_Win_unlock_all', this.#window);
    this.#mpi.freeShared(this.#window);
  }
}

import type { MpiLibrary, NativeBuffer } from './library.ts';

/** Messages under way: MPI's requests, in one array, so that one call tests all of them. */
export class Requests {
  readonly #mpi: MpiLibrary;
  readonly #handles: NativeBuffer;
  readonly #flag: NativeBuffer;
  readonly #isSet: Int32Array;
  readonly #capacity: number;
  #count = 0;

  constructor(mpi: MpiLibrary, capacity: number) {
    this.#mpi = mpi;
    this.#capacity = capacity;
    this.#handles = mpi.allocate(capacity * mpi.table.handleBytes);
    this.#flag = mpi.allocate(4);
    this.#isSet = new Int32Array(this.#flag.bytes.buffer, 0, 1);
  }

  /** Address where a call writes the handle of a new request. */
  next(): number {
    if (this.#count === this.#capacity) throw new RangeError(`More than ${this.#capacity} messages are under way.`);
    this.#count += 1;
    return this.#addressOf(this.#count - 1);
  }

  /** Whether all messages have been sent or have arrived. Also lets MPI move all other messages. */
  areDone(): boolean {
    if (this.#count === 0) return true;
    this.#mpi.call('MPI_Testall', this.#count, this.#handles.address, this.#flag.address, this.#mpi.table.noStatus);
    return this.#take();
  }

  /** Indices of the messages, in the order of {@link next}, that are not done. */
  pending(): number[] {
    return Array.from({ length: this.#count }, (_, i) => i).filter((i) => {
      // A request that is done becomes a null request, which later tests pass.
      this.#mpi.call('MPI_Test', this.#addressOf(i), this.#flag.address, this.#mpi.table.noStatus);
      return this.#isSet[0] === 0;
    });
  }

  #take(): boolean {
    if (this.#isSet[0] === 0) return false;
    this.#count = 0;
    return true;
  }

  #addressOf(index: number): number {
    return this.#handles.address + index * this.#mpi.table.handleBytes;
  }
}

import { viewArray } from '../../../core/protocol/wire/arrays.ts';
import { type CollectiveCall, elementCount } from '../../../core/protocol/wire/collectives.ts';
import type { SlotContent, Slots } from '../memory/mapped-slots.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary, NativeBuffer } from './library.ts';
import { Requests } from './requests.ts';
import { waitFor } from './wait.ts';

const slotCount = 4;
/** Some 20 µs: an event loop's turn costs more. */
const pollsForSoon = 16;
/**
 * A rank's header, before its array: signature of the call, controls, halt, whether its array follows, whether it has
 * one.
 */
const headBytes = 64;

/** One slot: this rank's message, and room for those of the other ranks. */
interface Slot {
  own: NativeBuffer;
  received: NativeBuffer;
  sends: Requests;
  receives: Requests;
}

/**
 * Small arrays between ranks of several nodes: each rank sends its array, with a header, to every other rank, and
 * receives theirs. There are four slots, used in turn, so several calls may be under way. A message that is longer or
 * shorter than expected does no harm: its header has another signature.
 */
export class MpiSlots implements Slots {
  readonly slotBytes: number;
  readonly #mpi: MpiLibrary;
  readonly #communicator: Communicator;
  readonly #slots: Slot[];
  readonly #messageBytes: number;
  #lastPut = 0;
  #lastRead = 0;

  /** @param slotBytes the largest array */
  constructor(mpi: MpiLibrary, communicator: Communicator, slotBytes: number) {
    this.slotBytes = slotBytes;
    this.#mpi = mpi;
    this.#communicator = communicator;
    this.#messageBytes = headBytes + slotBytes;
    const others = communicator.size - 1;
    this.#slots = Array.from({ length: slotCount }, () => ({
      own: mpi.allocate(this.#messageBytes),
      received: mpi.allocate(communicator.size * this.#messageBytes),
      sends: new Requests(mpi, others),
      receives: new Requests(mpi, others),
    }));
  }

  isFree(call: number): boolean {
    const isRead = this.#lastRead >= call - slotCount;
    return this.#lastPut === call - 1 && isRead && this.#slotOf(call).sends.areDone();
  }

  async untilFree(call: number, isAwaited: () => void): Promise<void> {
    await waitFor(this.#mpi, () => this.#slotOf(call).sends.areDone(), isAwaited);
  }

  put(call: number, { signature, signals, data, sends: hasArray }: SlotContent): void {
    const { own, received, sends, receives } = this.#slotOf(call);
    const dataBytes = data?.byteLength ?? 0;
    const head = [signature, signals.controls, Number(signals.halt), Number(data !== null), Number(hasArray)];
    new Int32Array(own.bytes.buffer).set(head);
    if (data !== null) own.bytes.set(new Uint8Array(data.buffer, data.byteOffset, dataBytes), headBytes);
    const tag = call % slotCount;
    const others = this.#others();
    for (const rank of others)
      this.#communicator.receive(received.address + rank * this.#messageBytes, this.#messageBytes, rank, tag, receives);
    for (const rank of others) this.#communicator.send(own.address, headBytes + dataBytes, rank, tag, sends);
    this.#lastPut = call;
  }

  fillsSoon(call: number): boolean {
    const { receives } = this.#slotOf(call);
    for (let poll = 0; poll < pollsForSoon; poll++) {
      if (receives.areDone()) return true;
      this.#mpi.yield();
    }
    return false;
  }

  async untilFilled(call: number, isAwaited: () => void): Promise<void> {
    await waitFor(this.#mpi, () => this.#slotOf(call).receives.areDone(), isAwaited);
  }

  read(call: number, { dataType, shape }: CollectiveCall): SlotContent[] {
    const { own, received } = this.#slotOf(call);
    return Array.from({ length: this.#communicator.size }, (_, rank) => {
      const isOwn = rank === this.#communicator.rank;
      const { buffer } = isOwn ? own.bytes : received.bytes;
      const start = isOwn ? 0 : rank * this.#messageBytes;
      const [signature, controls, halt, hasData, sends] = new Int32Array(buffer, start, 5);
      const data = hasData === 1 ? viewArray(dataType, buffer, start + headBytes, elementCount(shape)) : null;
      return { signature, signals: { controls, halt: halt === 1 }, data, sends: sends === 1 };
    });
  }

  release(call: number): void {
    this.#lastRead = call;
  }

  /** Ranks of the communicator whose messages of a call have not arrived. */
  missing(call: number): number[] {
    const others = this.#others();
    return this.#slotOf(call)
      .receives.pending()
      .map((index) => others[index]);
  }

  /** All other ranks, from the next one on, so that not all send to the same rank at once. */
  #others(): number[] {
    const { rank, size } = this.#communicator;
    return Array.from({ length: size - 1 }, (_, i) => (rank + 1 + i) % size);
  }

  #slotOf(call: number): Slot {
    return this.#slots[call % slotCount];
  }
}

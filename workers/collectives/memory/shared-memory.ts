import { bytesPerElement } from '../../../core/protocol/wire/arrays.ts';
import { type CollectiveArray, type CollectiveCall, elementCount } from '../../../core/protocol/wire/collectives.ts';
import { type Futex, type Libc, loadLibc, type Mapping } from '../../system/libc.ts';
import { CommonFile } from './common-file.ts';
import { barrierBytes, MappedBarrier } from './mapped-barrier.ts';
import { MappedMessages, messageBoardBytes } from './mapped-messages.ts';
import { MappedSlots, slotsBytes } from './mapped-slots.ts';
import { Pieces } from './pieces.ts';
import { RankFiles } from './rank-files.ts';

/** Below this a second request through the hub costs more than the copies that it saves. */
const smallestBytes = 256 * 1024;

interface SharedMemoryOptions {
  /** Called once, on every rank, with a sentence on how large arrays travel from now on. */
  tell?: (message: string) => void;
  /** Whether files may be mapped. */
  mayMap?: boolean;
  /** How long to wait for a rank in mapped memory; a minute by default. */
  timeoutMs?: number;
}

/** What lies in a file that all ranks map. */
export interface CommonMemory<T> {
  /** Call it once all ranks have created theirs. */
  map(): T;
  /** Call it once all ranks have mapped it, or none will. */
  unlink(): void;
}

/** The memory that ranks share, where the run's folder lies in memory; null elsewhere. */
export function sharedMemoryIn(
  folder: string,
  rank: number,
  ranks: readonly number[],
  options: SharedMemoryOptions = {},
): SharedMemory | null {
  return folder.startsWith('/dev/shm/') ? new SharedMemory(folder, rank, ranks, options) : null;
}

/** Areas begin at multiples of a page, and so at whole elements. */
const areaBytes = (bytes: number): number => Math.ceil(bytes / 4096) * 4096;

/** Size of a rank's file. */
const fileBytes = (capacity: number): number => (capacity === 0 ? 0 : barrierBytes + 2 * areaBytes(capacity));

/**
 * Memory for large arrays between ranks of one machine: each rank has a file in memory, which it alone writes and all
 * read. Where koffi is installed the files are mapped, and a {@link MappedBarrier} synchronises the ranks. Otherwise
 * ranks read and write the files, and the hub's relay synchronises them (`collective-stages.ts`).
 *
 * A file has a page for the barrier and two areas, used in turn. When a rank writes to one, every rank has called the
 * collective before, and so has read what the area held. For that a rank must not make a large call during an earlier
 * one.
 */
export class SharedMemory {
  readonly rank: number;
  readonly ranks: readonly number[];
  readonly #folder: string;
  readonly #options: SharedMemoryOptions;
  readonly #files: RankFiles;
  #transport: Transport;
  #libc: Libc | null = null;
  #pieces: Pieces | null = null;
  #barrier: MappedBarrier | null = null;
  #hasTold = false;
  /** Bytes of an area, the same on all ranks. */
  #capacity = 0;
  /** Arrays of this size did not fit on some rank: they and larger ones travel through the hub. */
  #refusedBytes = Infinity;
  #area = 0;

  constructor(folder: string, rank: number, ranks: readonly number[], options: SharedMemoryOptions = {}) {
    this.rank = rank;
    this.ranks = ranks;
    this.#folder = folder;
    this.#options = options;
    this.#files = new RankFiles(folder, rank);
    this.#transport = this.#files;
  }

  /** Synchronises the ranks; null where the relay does so. */
  get barrier(): MappedBarrier | null {
    return this.#barrier;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs ?? 60_000;
  }

  /** Which of the two areas the current collective uses. */
  get area(): number {
    return this.#area;
  }

  /** Room to reduce arrays piece by piece. */
  get pieces(): Pieces {
    if (this.#pieces === null) throw new Error('Call SharedMemory.prepare before the first collective.');
    return this.#pieces;
  }

  /** Whether this call's arrays travel through this memory. All ranks give the same answer. */
  takes({ operation, reduce, dataType, shape }: CollectiveCall): boolean {
    const bytes = elementCount(shape) * bytesPerElement(dataType);
    // Sums of integers may overflow. The relay reports that to all ranks.
    const isSafe = reduce === null || (dataType !== 'int32' && dataType !== 'uint8');
    const isOfAll = operation !== 'barrier' && operation !== 'shift';
    return isOfAll && isSafe && bytes >= smallestBytes && bytes < this.#refusedBytes;
  }

  hasRoom(bytes: number): boolean {
    return bytes <= this.#capacity;
  }

  /** Makes this rank's file large enough, if there is memory. The ranks then agree on whether all have succeeded. */
  reserve(bytes: number): boolean {
    return this.#files.grow(fileBytes(this.#capacity), fileBytes(bytes));
  }

  /** Loads what large arrays need, which takes some 20 ms. @returns whether this rank can map files */
  async prepare(): Promise<boolean> {
    this.#pieces ??= await Pieces.create(this.ranks.length);
    const libc = await this.#loadLibc();
    return libc !== null && libc.futex !== null;
  }

  /** The file for small arrays; null where this rank cannot map it, or there is no room. */
  async createSlotFile(): Promise<CommonMemory<MappedSlots> | null> {
    const { rank, ranks } = this;
    return await this.#createCommon('slots.bin', slotsBytes(ranks.length), (_, futex, mapping) => {
      return new MappedSlots(futex, mapping, ranks.indexOf(rank), ranks.length);
    });
  }

  /** The file for messages between single ranks; null where this rank cannot map it, or there is no room. */
  async createMessageBoard(): Promise<CommonMemory<MappedMessages> | null> {
    const { rank, ranks } = this;
    return await this.#createCommon('messages.bin', messageBoardBytes(ranks.length), (libc, futex, board) => {
      return new MappedMessages({ folder: this.#folder, rank, ranks, libc, futex, board });
    });
  }

  async #createCommon<T>(
    name: string,
    bytes: number,
    open: (libc: Libc, futex: Futex, mapping: Mapping) => T,
  ): Promise<CommonMemory<T> | null> {
    const libc = await this.#loadLibc();
    const futex = libc?.futex ?? null;
    if (libc === null || futex === null) return null;
    const file = CommonFile.create({ folder: this.#folder, name, bytes, rank: this.rank, ranks: this.ranks }, libc);
    return file && { map: () => open(libc, futex, file.map()), unlink: () => file.unlink() };
  }

  async #loadLibc(): Promise<Libc | null> {
    if (this.#options.mayMap === false) return null;
    try {
      this.#libc ??= await loadLibc();
      return this.#libc;
    } catch {
      return null; // Not installed, or not for this system. Files do as well, and `tell` says so.
    }
  }

  /** Some rank has no room: frees what was reserved. */
  refuse(bytes: number): void {
    this.#refusedBytes = bytes;
    this.#files.truncate(fileBytes(this.#capacity));
    this.#tellOnce('the hub: there is no room for them in /dev/shm');
  }

  /** Every rank has room. @param everyRankMaps whether all ranks can map files: otherwise none does */
  settle(bytes: number, everyRankMaps: boolean): void {
    this.#capacity = areaBytes(bytes);
    for (const rank of this.ranks) this.#files.descriptor(rank);
    const futex = this.#libc?.futex ?? null;
    if (everyRankMaps && this.#libc !== null && futex !== null) {
      const mapped = new MappedTransport(this.#libc, this.#files, fileBytes(this.#capacity), this.rank, this.ranks);
      this.#transport = mapped;
      this.#barrier = new MappedBarrier(futex, mapped.own, mapped.others);
    }
    this.#tellOnce(this.#barrier === null ? 'files in /dev/shm' : 'mapped memory');
  }

  #tellOnce(how: string): void {
    if (!this.#hasTold) this.#options.tell?.(`Arrays of 256 KiB and more go through ${how}.`);
    this.#hasTold = true;
  }

  /** Removes the file's name once all ranks have opened it. */
  unlink(): void {
    this.#files.unlink();
  }

  /** Begins the next collective, on all ranks: it uses the other area. */
  turn(): void {
    this.#area = 1 - this.#area;
  }

  /** Fills `target` with what a rank wrote to the current area from `offset` bytes on. */
  read(rank: number, target: CollectiveArray, offset: number): void {
    this.#transport.read(rank, bytesOf(target), this.#areaStart + offset);
  }

  /** Writes arrays one after the other to this rank's current area, from `offset` bytes on. */
  write(arrays: readonly CollectiveArray[], offset: number): void {
    let end = offset;
    for (const array of arrays) {
      this.#transport.write(bytesOf(array), this.#areaStart + end);
      end += array.byteLength;
    }
  }

  get #areaStart(): number {
    return barrierBytes + this.#area * this.#capacity;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: CollectiveArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Moves bytes into this rank's file and out of every rank's. Offsets count from the beginning of a file. */
interface Transport {
  /** Fills `target` with bytes that a rank wrote. */
  read(rank: number, target: Uint8Array, offset: number): void;
  /** Writes to this rank's file. */
  write(source: Uint8Array, offset: number): void;
}

/** Files that are mapped into this process. {@link RankFiles} is the transport where they cannot be. */
class MappedTransport implements Transport {
  readonly own: Mapping;
  /** The mappings of the other ranks. */
  readonly others: ReadonlyMap<number, Mapping>;

  /** Maps the first `bytes` bytes of all ranks' files. Earlier mappings stay, and take no memory beside the files. */
  constructor(libc: Libc, files: RankFiles, bytes: number, rank: number, ranks: readonly number[]) {
    this.own = libc.map(files.descriptor(rank), bytes, 'shared');
    const others = ranks.filter((other) => other !== rank);
    this.others = new Map(others.map((other) => [other, libc.map(files.descriptor(other), bytes, 'read')]));
  }

  read(rank: number, target: Uint8Array, offset: number): void {
    const { buffer } = this.others.get(rank) ?? this.own;
    target.set(new Uint8Array(buffer, offset, target.length));
  }

  write(source: Uint8Array, offset: number): void {
    new Uint8Array(this.own.buffer, offset, source.length).set(source);
  }
}

import type { Libc, Mapping } from '../../system/libc.ts';
import type { RankFiles } from './rank-files.ts';

/** Moves bytes into this rank's file and out of every rank's. Offsets count from the beginning of a file. */
export interface Transport {
  /** Fills `target` with bytes that a rank wrote. */
  read(rank: number, target: Uint8Array, offset: number): void;
  /** Writes to this rank's file. */
  write(source: Uint8Array, offset: number): void;
}

/** Files that are mapped into this process. {@link RankFiles} is the transport where they cannot be. */
export class MappedTransport implements Transport {
  readonly own: Mapping;
  /** By rank, without this one. */
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

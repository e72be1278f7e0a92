import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Futex, Libc } from '../../system/libc.ts';
import { growFile } from './rank-files.ts';
import { MappedSlots, slotsBytes } from './mapped-slots.ts';

export interface SlotFileOptions {
  folder: string;
  rank: number;
  /** Ascending. */
  ranks: readonly number[];
}

/** The file behind {@link MappedSlots}. The first rank creates it, and all map it. */
export class SlotFile {
  readonly #path: string;
  readonly #options: SlotFileOptions;
  readonly #libc: Libc;
  readonly #futex: Futex;

  /** Every rank calls it before any maps the file. Null where this rank cannot map files, or the folder has no room. */
  static create(options: SlotFileOptions, libc: Libc): SlotFile | null {
    if (libc.futex === null) return null;
    const file = new SlotFile(options, libc, libc.futex);
    if (!file.#isMaker || file.#make()) return file;
    file.unlink();
    return null;
  }

  private constructor(options: SlotFileOptions, libc: Libc, futex: Futex) {
    this.#path = join(options.folder, 'slots.bin');
    this.#options = options;
    this.#libc = libc;
    this.#futex = futex;
  }

  /** Call it once all ranks have called {@link create}. */
  map(): MappedSlots {
    const { rank, ranks } = this.#options;
    const file = openSync(this.#path, 'r+');
    try {
      const mapping = this.#libc.map(file, slotsBytes(ranks.length), 'shared');
      return new MappedSlots(this.#futex, mapping, ranks.indexOf(rank), ranks.length);
    } finally {
      closeSync(file);
    }
  }

  /** Call it once all ranks have mapped the file, or none will. A file without a name is gone with its processes. */
  unlink(): void {
    if (this.#isMaker) unlinkSync(this.#path);
  }

  get #isMaker(): boolean {
    return this.#options.rank === this.#options.ranks[0];
  }

  /** @returns whether there was room */
  #make(): boolean {
    const { folder, ranks } = this.#options;
    const file = openSync(this.#path, 'wx', 0o600);
    try {
      return growFile(file, folder, 0, slotsBytes(ranks.length));
    } finally {
      closeSync(file);
    }
  }
}

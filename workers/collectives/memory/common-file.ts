import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Libc, Mapping } from '../../system/libc.ts';
import { growFile } from './rank-files.ts';

export interface CommonFileOptions {
  folder: string;
  name: string;
  bytes: number;
  rank: number;
  /** Ascending. */
  ranks: readonly number[];
}

/** A file that the first rank creates, and all ranks map and write. */
export class CommonFile {
  readonly #path: string;
  readonly #options: CommonFileOptions;
  readonly #libc: Libc;

  /** Every rank calls it before any maps the file. Null where the folder has no room. */
  static create(options: CommonFileOptions, libc: Libc): CommonFile | null {
    const file = new CommonFile(options, libc);
    if (!file.#isMaker || file.#make()) return file;
    file.unlink();
    return null;
  }

  private constructor(options: CommonFileOptions, libc: Libc) {
    this.#path = join(options.folder, options.name);
    this.#options = options;
    this.#libc = libc;
  }

  /** Call it once all ranks have called {@link create}. */
  map(): Mapping {
    const file = openSync(this.#path, 'r+');
    try {
      return this.#libc.map(file, this.#options.bytes, 'shared');
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
    const { folder, bytes } = this.#options;
    const file = openSync(this.#path, 'wx', 0o600);
    try {
      return growFile(file, folder, 0, bytes);
    } finally {
      closeSync(file);
    }
  }
}

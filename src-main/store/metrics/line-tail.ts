import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { type LinePortion, readPortions } from '../../../core/node/read-lines.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';

/**
 * Reads a text file that another process appends to, each time from the end of the last reading. A last line without a
 * line break is left for later: it is still being written, or was cut short.
 */
export class LineTail {
  readonly #path: string;
  /** Bytes of the whole lines that were read. */
  #offset = 0;
  /** Identity of the file that was read; null: accept any file at the path. */
  #identity: string | null = '';

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Yields the lines since the last reading, in portions; none if there is no file. A portion is repeated if its reader
   * threw.
   * @param replaced called first if the file was replaced or is shorter than before; it is then read from the start
   */
  async *read(replaced: () => void): AsyncGenerator<LinePortion> {
    const handle = await unlessMissing(openOwnFile(dirname(this.#path), basename(this.#path)));
    if (handle === null) return;
    try {
      const { identity, size } = await identify(handle);
      this.#identity ??= identity;
      if (identity !== this.#identity || size < this.#offset) {
        replaced();
        this.#identity = identity;
        this.#offset = 0;
      }
      // Up to the present end, because a reader could run after a file that grows fast for ever.
      for await (const portion of readPortions(handle, this.#offset, Number(size))) {
        yield portion;
        this.#offset = portion.to;
      }
    } finally {
      await handle.close();
    }
  }

  /** Bytes of the whole lines that were read. */
  get bytes(): number {
    return this.#offset;
  }

  /** Whether an open file is the one that was read. */
  async isOf(handle: FileHandle): Promise<boolean> {
    return (await identify(handle)).identity === this.#identity;
  }

  /** Continues at a byte position, as if the file before it had been read. */
  startAt(bytes: number): void {
    this.#offset = bytes;
    this.#identity = null;
  }

  /** Restarts at the beginning of the file. */
  rewind(): void {
    this.#offset = 0;
    this.#identity = '';
  }
}

/** Identifies a file. The inode alone is not enough, because the system reuses inodes. */
async function identify(handle: FileHandle): Promise<{ identity: string; size: bigint }> {
  const { ino, birthtimeNs, size } = await handle.stat({ bigint: true });
  return { identity: `${ino} ${birthtimeNs}`, size };
}

import { type FileHandle, open } from 'node:fs/promises';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';

const chunkBytes = 2 ** 18;
const lineBreak = 0x0a;

/** Lines that came together. */
export interface LinePortion {
  lines: string[];
  /** Where the first of them begins, in bytes. */
  from: number;
  /** Behind the line break of the last. */
  to: number;
}

/**
 * Reads a text file that somebody else appends to, each time from where it stopped. A last line without its line break is
 * still being written, or was cut short: it is left for later.
 */
export class LineTail {
  readonly #path: string;
  /** Bytes of the whole lines that were read. */
  #offset = 0;
  /** Of the file that was read; null where whatever stands there is taken for it. */
  #identity: string | null = '';

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The lines since the last time, in portions; none where there is no file. Lines of a portion whose reader threw come again.
   * @param replaced called first where the file is another one, or shorter, than the last time: it is read from its start
   */
  async *read(replaced: () => void): AsyncGenerator<LinePortion> {
    const handle = await open(this.#path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw explainFileError(error, this.#path, 'read');
    });
    if (handle === null) return;
    try {
      const { identity, size } = await identify(handle);
      this.#identity ??= identity;
      if (identity !== this.#identity || size < this.#offset) {
        replaced();
        this.#identity = identity;
        this.#offset = 0;
      }
      let rest = Buffer.alloc(0);
      for (;;) {
        const chunk = Buffer.allocUnsafe(chunkBytes);
        const { bytesRead } = await handle.read(chunk, 0, chunkBytes, this.#offset + rest.length);
        if (bytesRead === 0) return;
        const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(lineBreak) + 1;
        if (end > 0) {
          const [from, to] = [this.#offset, this.#offset + end];
          yield { lines: bytes.toString('utf8', 0, end - 1).split('\n'), from, to };
        }
        this.#offset += end;
        rest = bytes.subarray(end);
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

  /** The next read begins there, taking what comes before for read. */
  startAt(bytes: number): void {
    this.#offset = bytes;
    this.#identity = null;
  }

  /** The next read begins at the file's start again. */
  rewind(): void {
    this.#offset = 0;
    this.#identity = '';
  }
}

/** Tells a file from another one under its name: an inode alone is soon used again. */
async function identify(handle: FileHandle): Promise<{ identity: string; size: bigint }> {
  const { ino, birthtimeNs, size } = await handle.stat({ bigint: true });
  return { identity: `${ino} ${birthtimeNs}`, size };
}

import { open } from 'node:fs/promises';
import { errorCode, explainFileError } from './file-error.ts';

const chunkBytes = 2 ** 20;
const lineBreak = 0x0a;

/**
 * Reads a text file that somebody else appends to, each time from where it stopped. A last line without its line break is
 * still being written, or was cut short: it is left for later.
 */
export class LineTail {
  readonly #path: string;
  /** Bytes of the whole lines that were read. */
  #offset = 0;
  /** Tells the file from another one under its name: an inode alone is soon used again. */
  #identity = '';

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The lines since the last time, in portions; none where there is no file. Lines of a portion whose reader threw come again.
   * @param replaced called first where the file is another one, or shorter, than the last time: it is read from its start
   */
  async *read(replaced: () => void): AsyncGenerator<string[]> {
    const handle = await open(this.#path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw explainFileError(error, this.#path, 'read');
    });
    if (handle === null) return;
    try {
      const { ino, birthtimeNs, size } = await handle.stat({ bigint: true });
      const identity = `${ino} ${birthtimeNs}`;
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
        if (end > 0) yield bytes.toString('utf8', 0, end - 1).split('\n');
        this.#offset += end;
        rest = bytes.subarray(end);
      }
    } finally {
      await handle.close();
    }
  }

  /** The next read begins at the file's start again. */
  rewind(): void {
    this.#offset = 0;
    this.#identity = '';
  }
}

/** One regular file of a tar archive. */
export interface TarEntry {
  name: string;
  bytes: Buffer;
}

const blockBytes = 512;

/**
 * The regular files of a ustar archive (POSIX.1-1988 and GNU's variant), in order. Skips folders, links and extended
 * headers, so names of more than 100 bytes may be shortened.
 * @throws Error if a header's checksum does not match or the archive ends early
 */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = new BlockReader(chunks);
  for (;;) {
    const header = await reader.read(blockBytes);
    if (header.every((byte) => byte === 0)) return reader.drain();
    checkHeader(header, reader.position - blockBytes);
    const name = textField(header, 0, 100);
    const size = octalField(header, 124, 12);
    if (!(size >= 0)) throw new Error(`the tar header at byte ${reader.position - blockBytes} has no valid size`);
    const bytes = await reader.read(Math.ceil(size / blockBytes) * blockBytes);
    const type = textField(header, 156, 1);
    if (type === '0' || type === '') yield { name, bytes: bytes.subarray(0, size) };
  }
}

/** Checks the sum of all header bytes; the checksum's own eight bytes count as spaces. */
function checkHeader(header: Buffer, position: number): void {
  const expected = octalField(header, 148, 8);
  const actual = header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  if (actual !== expected || !textField(header, 257, 6).startsWith('ustar')) {
    throw new Error(`no valid tar header at byte ${position}: checksum ${actual}, expected ${expected}`);
  }
}

function textField(header: Buffer, start: number, length: number): string {
  return header.toString('latin1', start, start + length).split('\0', 1)[0];
}

function octalField(header: Buffer, start: number, length: number): number {
  return Number.parseInt(textField(header, start, length), 8);
}

/** Reads exact lengths from chunks of any length. */
class BlockReader {
  position = 0;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Takes memory as bytes arrive, not for the length that a header announces. */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = length; missing > 0;) {
      if (this.#rest.length === 0) await this.#refill(missing);
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    this.position += length;
    return Buffer.concat(parts, length);
  }

  /** Reads to the end of the archive: only there does a compressed archive prove to be intact. */
  async drain(): Promise<void> {
    let next = await this.#chunks.next();
    while (!next.done) next = await this.#chunks.next();
  }

  async #refill(missingBytes: number): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw new Error(`the tar archive ends ${missingBytes} bytes early, after byte ${this.position}`);
    this.#rest = next.value;
  }
}

/**
 * Decompresses an LZ4 frame of known size. Checksums are not compared: they would only find damage of the disk.
 * Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and `lz4_Block_format.md`.
 * @throws Error if it is damaged, or does not give `size` bytes
 */
export function decompressLz4(frame: Buffer, size: number): Buffer {
  // A byte of a frame gives at most 255.
  if (size > 255 * frame.length) throw damaged;
  if (frame.length < 7 || frame.readUInt32LE(0) !== 0x184d2204) throw damaged;
  const flags = frame[4];
  if (flags >> 6 !== 1) throw damaged;
  const [hasChecksums, hasSize, hasDictionary] = [flags & 16, flags & 8, flags & 1];
  let at = 7 + (hasSize ? 8 : 0) + (hasDictionary ? 4 : 0);
  const whole = Buffer.alloc(size);
  let filled = 0;
  for (;;) {
    if (at + 4 > frame.length) throw damaged;
    const header = frame.readUInt32LE(at);
    if (header === 0) break;
    const [start, end] = [at + 4, at + 4 + (header & 0x7fffffff)];
    if (end > frame.length) throw damaged;
    if (header >= 2 ** 31) {
      if (filled + end - start > size) throw damaged;
      filled += frame.copy(whole, filled, start, end);
    } else filled = decompressBlock(frame.subarray(start, end), whole, filled);
    at = end + (hasChecksums ? 4 : 0);
  }
  if (filled !== size) throw damaged;
  return whole;
}

const damaged = new Error('a compressed part is damaged');

/** Appends a block to what came before, which it may refer to. @returns the bytes filled then */
function decompressBlock(block: Buffer, whole: Buffer, start: number): number {
  let [at, filled] = [0, start];
  const more = (length: number): number => {
    if (length < 15) return length;
    let [total, byte] = [length, 255];
    while (byte === 255) {
      if (at >= block.length) throw damaged;
      byte = block[at++];
      total += byte;
    }
    return total;
  };
  while (at < block.length) {
    const token = block[at++];
    const literals = more(token >> 4);
    if (at + literals > block.length || filled + literals > whole.length) throw damaged;
    block.copy(whole, filled, at, at + literals);
    at += literals;
    filled += literals;
    if (at >= block.length) return filled;
    if (at + 2 > block.length) throw damaged;
    const distance = block.readUInt16LE(at);
    at += 2;
    const length = more(token & 15) + 4;
    if (distance === 0 || distance > filled || filled + length > whole.length) throw damaged;
    // A match may overlap what it writes.
    for (let i = 0; i < length; i++, filled++) whole[filled] = whole[filled - distance];
  }
  return filled;
}

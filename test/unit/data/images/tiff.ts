type Numbers = Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array;

/** A TIFF of one row of grey pixels (TIFF 6.0: header, pixels, one directory of tags). */
export function tiff(values: Numbers): Buffer {
  const pixels = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const format =
    values instanceof Float32Array ? 3 : values instanceof Int16Array || values instanceof Int32Array ? 2 : 1;
  const tags: [tag: number, value: number][] = [
    [256, values.length], // width
    [257, 1], // height
    [258, 8 * values.BYTES_PER_ELEMENT], // bits of a sample
    [259, 1], // not compressed
    [262, 1], // black is zero
    [273, 8], // where the pixels begin
    [277, 1], // samples of a pixel
    [278, 1], // rows
    [279, pixels.length],
    [339, format], // unsigned, signed, float
  ];
  const header = Buffer.from('II*\0\0\0\0\0', 'latin1');
  header.writeUInt32LE(8 + pixels.length, 4);
  const directory = Buffer.alloc(2 + 12 * tags.length + 4);
  directory.writeUInt16LE(tags.length);
  for (const [i, [tag, value]] of tags.entries()) {
    directory.writeUInt16LE(tag, 2 + 12 * i);
    directory.writeUInt16LE(4, 4 + 12 * i);
    directory.writeUInt32LE(1, 6 + 12 * i);
    directory.writeUInt32LE(value, 10 + 12 * i);
  }
  return Buffer.concat([header, pixels, directory]);
}

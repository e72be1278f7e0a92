/** The containers of icons of macOS and Windows. Both may hold PNG images. */

/**
 * Sides in pixels, by the type of an entry: `icp4` and `icp5` are 16 and 32, `ic11` to `ic14` the same for displays of
 * twice the density.
 */
const icnsTypes = {
  icp4: 16,
  icp5: 32,
  ic07: 128,
  ic08: 256,
  ic09: 512,
  ic10: 1024,
  ic11: 32,
  ic12: 64,
  ic13: 256,
  ic14: 512,
};
export const icnsSizes = Object.values(icnsTypes);
export const icoSizes = [16, 24, 32, 48, 64, 128, 256];

/**
 * An Apple icon: `icns` and the file's length, then for each image its type, the length with these eight bytes, and the
 * PNG. Big-endian.
 * @param pngs one for each of `icnsSizes`
 */
export function icnsFile(pngs: readonly Uint8Array[]): Uint8Array {
  const entries = Object.keys(icnsTypes).map((type, index) => icnsBlock(type, [pngs[index]]));
  return icnsBlock('icns', entries);
}

function icnsBlock(type: string, contents: readonly Uint8Array[]): Uint8Array {
  const header = Buffer.alloc(8, type, 'latin1');
  header.writeUInt32BE(
    contents.reduce((sum, { length }) => sum + length, header.length),
    4,
  );
  return Buffer.concat([header, ...contents]);
}

/**
 * A Windows icon: a header of six bytes, an entry of 16 bytes for each image, then the PNGs. Little-endian.
 * @param pngs one for each of `icoSizes`
 */
export function icoFile(pngs: readonly Uint8Array[]): Uint8Array {
  const header = Buffer.alloc(6);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(pngs.length, 4);
  let offset = header.length + 16 * pngs.length;
  const entries = pngs.map((png, index) => {
    const entry = Buffer.alloc(16);
    // A side of 256 pixels is written as 0.
    entry.writeUInt8(icoSizes[index] % 256, 0);
    entry.writeUInt8(icoSizes[index] % 256, 1);
    entry.writeUInt16LE(1, 4);
    entry.writeUInt16LE(32, 6);
    entry.writeUInt32LE(png.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += png.length;
    return entry;
  });
  return Buffer.concat([header, ...entries, ...pngs]);
}

import { crc32, inflateRawSync } from 'node:zlib';

/** Reads a ZIP through its central directory (APPNOTE.TXT 4.3), checking sizes and CRC-32. */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (zip.toString('latin1', at, at + 4) !== 'PK\x01\x02') throw new Error(`No central directory entry at ${at}.`);
    const [method, checksum] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 16)];
    const [packedBytes, bytes] = [zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)];
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const name = zip.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const packed = zip.subarray(start, start + packedBytes);
    const content = method === 0 ? packed : inflateRawSync(packed);
    if (content.length !== bytes || crc32(content) !== checksum) throw new Error(`${name} is damaged.`);
    files.set(name, content);
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return files;
}

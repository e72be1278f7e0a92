import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { byteCount, reasonOf } from './files.ts';

/** The unsigned bytes of an IDX file, row-major. */
export interface IdxArray {
  shape: number[];
  values: Uint8Array;
}

/**
 * Reads an IDX file of unsigned bytes, plain or compressed with gzip: the bytes 0, 0, 8 (type) and the number of
 * dimensions, then each dimension as a big-endian uint32, then the values. Source: LeCun, Cortes and Burges, "The MNIST
 * database of handwritten digits".
 * @param dimensions the number of dimensions that the file must have
 * @throws Error that names the file, the expected and the actual content, and the remedy
 */
export async function readIdx(file: string, dimensions: number): Promise<IdxArray> {
  const bytes = await readUnpacked(file);
  const headerBytes = 4 + 4 * dimensions;
  if (bytes.length < headerBytes) {
    throw damaged(file, `it has ${byteCount(bytes.length)}, its header alone takes ${headerBytes}`);
  }
  const magic = bytes.readUInt32BE(0);
  const expectedMagic = 0x0800 + dimensions;
  if (magic !== expectedMagic) {
    throw damaged(
      file,
      `it begins with ${hexadecimal(magic)}, an IDX file of unsigned bytes in ${dimensions} dimensions with ` +
        hexadecimal(expectedMagic),
    );
  }
  const shape = Array.from({ length: dimensions }, (_, axis) => bytes.readUInt32BE(4 + 4 * axis));
  const expectedBytes = headerBytes + shape.reduce((size, dimension) => size * dimension, 1);
  if (bytes.length !== expectedBytes) {
    throw damaged(
      file,
      `it has ${byteCount(bytes.length)} unpacked; ${expectedBytes.toLocaleString('en')} are expected for its ` +
        `shape [${shape.join(', ')}]`,
    );
  }
  return { shape, values: bytes.subarray(headerBytes) };
}

async function readUnpacked(file: string): Promise<Buffer> {
  const bytes = await readFile(file);
  const compressed = bytes.length >= 2 && bytes.readUInt16BE(0) === 0x1f8b;
  if (!compressed) return bytes;
  try {
    return await promisify(gunzip)(bytes);
  } catch (error) {
    throw damaged(file, `its ${byteCount(bytes.length)} cannot be unpacked (${reasonOf(error)})`, error);
  }
}

function damaged(file: string, finding: string, cause?: unknown): Error {
  return new Error(
    `${file} is truncated or corrupt: ${finding}. Delete it, and it is downloaded again, or put an intact copy ` +
      'in its place.',
    { cause },
  );
}

function hexadecimal(value: number): string {
  return `0x${value.toString(16).padStart(8, '0')}`;
}

import type { FileHandle } from 'node:fs/promises';

const magic = Buffer.from('\u0093NUMPY', 'latin1');
/** A longer header is refused. */
const mostHeaderBytes = 2 ** 20;

/** What a `.npy` file says of its array. */
export interface NpyHeader {
  /** NumPy's type, such as `<f4`. */
  descr: string;
  isFortran: boolean;
  shape: number[];
  /** Byte at which the values begin. */
  start: number;
}

/** The header of an open file, of which no more is read. */
export async function readNpyHeader(file: string, handle: FileHandle): Promise<NpyHeader> {
  const bytes = Buffer.alloc(2 ** 16);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  return parseNpyHeader(bytes.subarray(0, bytesRead), file);
}

/** @throws Error that names the file and what does not fit */
export function parseNpyHeader(buffer: Buffer, source: string): NpyHeader {
  if (buffer.length < 12 || !buffer.subarray(0, 6).equals(magic))
    throw damagedNpy(source, 'it does not begin as a .npy file');
  const isShort = buffer[6] === 1;
  const start = isShort ? 10 + buffer.readUInt16LE(8) : 12 + buffer.readUInt32LE(8);
  if (buffer[6] > 3 || start > Math.min(buffer.length, mostHeaderBytes))
    throw damagedNpy(source, 'its header is too long, or of a later format');
  const text = buffer.toString('latin1', isShort ? 10 : 12, start);
  const [, descr] = /'descr':\s*'([<>|=]\w+)'/.exec(text) ?? [];
  const [, order] = /'fortran_order':\s*(True|False)/.exec(text) ?? [];
  const [, sizes] = /'shape':\s*\(([\d, ]*)\)/.exec(text) ?? [];
  if ([descr, order, sizes].some((part?: string) => part === undefined)) {
    throw damagedNpy(source, `its header ${JSON.stringify(text.trim().slice(0, 200))} is not of one type of numbers`);
  }
  const shape = sizes
    .split(',')
    .map((size) => size.trim())
    .filter((size) => size !== '')
    .map(Number);
  return { descr, isFortran: order === 'True', shape, start };
}

export function damagedNpy(source: string, finding: string): Error {
  return new Error(`${source} is truncated or corrupt: ${finding}. Write it again with numpy.save.`);
}

import type { Field } from './fields.ts';
import { damagedNpy as damaged, parseNpyHeader } from './npy-header.ts';

/** An array of a file, in C order: its shape with all axes, and values of a type that data sets take. */
export interface FileArray {
  readonly shape: readonly number[];
  readonly values: Field['values'];
}

type Read = (view: DataView, offset: number, little: boolean) => number;
type Kind = 'float' | 'integer' | 'byte';

/** How to read an element, by NumPy's kind and size in bytes. */
const elements: Record<string, { bytes: number; kind: Kind; read: Read }> = {
  f2: { bytes: 2, kind: 'float', read: (view, at, little) => view.getFloat16(at, little) },
  f4: { bytes: 4, kind: 'float', read: (view, at, little) => view.getFloat32(at, little) },
  f8: { bytes: 8, kind: 'float', read: (view, at, little) => view.getFloat64(at, little) },
  i1: { bytes: 1, kind: 'integer', read: (view, at) => view.getInt8(at) },
  i2: { bytes: 2, kind: 'integer', read: (view, at, little) => view.getInt16(at, little) },
  i4: { bytes: 4, kind: 'integer', read: (view, at, little) => view.getInt32(at, little) },
  i8: { bytes: 8, kind: 'integer', read: (view, at, little) => Number(view.getBigInt64(at, little)) },
  u1: { bytes: 1, kind: 'byte', read: (view, at) => view.getUint8(at) },
  b1: { bytes: 1, kind: 'byte', read: (view, at) => view.getUint8(at) },
  u2: { bytes: 2, kind: 'integer', read: (view, at, little) => view.getUint16(at, little) },
  u4: { bytes: 4, kind: 'integer', read: (view, at, little) => view.getUint32(at, little) },
  u8: { bytes: 8, kind: 'integer', read: (view, at, little) => Number(view.getBigUint64(at, little)) },
};

const arrayTypes = { float: Float32Array, integer: Int32Array, byte: Uint8Array };

/**
 * Reads a NumPy array (`.npy`, formats 1 to 3): floats of 16, 32 and 64 bits become float32, integers int32, bytes and
 * booleans uint8; in either byte order, in C or Fortran order.
 *
 * Source: NumPy's NEP 1, "A simple file format for NumPy arrays".
 * @throws Error that names the file and what does not fit
 */
export function parseNpy(bytes: Uint8Array, source: string): FileArray {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const { descr, isFortran, shape, start } = parseNpyHeader(buffer, source);
  const element = Object.hasOwn(elements, descr.slice(1)) ? elements[descr.slice(1)] : undefined;
  if (element === undefined || !'<>|='.includes(descr[0])) {
    throw new Error(
      `${source} holds elements of type ${descr}: numbers and booleans are read. Convert it with astype.`,
    );
  }
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  const expected = size * element.bytes;
  if (!(Number.isSafeInteger(expected) && buffer.length - start === expected)) {
    throw damaged(source, `shape (${shape.join(', ')}) takes ${expected} bytes, it has ${buffer.length - start}`);
  }
  const view = new DataView(buffer.buffer, buffer.byteOffset + start, expected);
  const values = new arrayTypes[element.kind](size);
  const place = isFortran ? fortranPlaces(shape) : null;
  for (let i = 0; i < size; i++) {
    const value = element.read(view, i * element.bytes, descr[0] !== '>');
    const to = place === null ? i : place(i);
    values[to] = value;
    // Infinity may be stored as such; a finite value must stay finite, and an integer the same.
    const isKept =
      element.kind === 'float' ? Number.isFinite(values[to]) || !Number.isFinite(value) : values[to] === value;
    if (!isKept) throw beyond(source, value, element.kind);
  }
  return { shape, values };
}

/** Maps a position in Fortran order to the position in C order. */
function fortranPlaces(shape: readonly number[]): (position: number) => number {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  return (position) => {
    let rest = position;
    let place = 0;
    for (const [axis, size] of shape.entries()) {
      place += (rest % size) * strides[axis];
      rest = Math.floor(rest / size);
    }
    return place;
  };
}

function beyond(source: string, value: number, kind: Kind): Error {
  return new Error(
    `${source} holds ${value}, which ${kind === 'float' ? 'float32' : 'int32'} cannot hold. Scale or convert ` +
      'its values.',
  );
}

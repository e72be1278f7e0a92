import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../../../core/safetensors/safetensors.ts';
import { goldenFile } from '../../../golden/read-golden.ts';

/** Written by safetensors 0.8.0 (Python, `safetensors.numpy.save`) from the tensors below. */
const REFERENCE_HEADER =
  '{"__metadata__":{"k":"v é"},"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},' +
  '"d":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[16,24]},' +
  '"e":{"dtype":"F32","shape":[0,3],"data_offsets":[24,24]},"s":{"dtype":"F32","shape":[],"data_offsets":[24,28]},' +
  '"z":{"dtype":"I32","shape":[1],"data_offsets":[28,32]},"b":{"dtype":"U8","shape":[2],"data_offsets":[32,34]}}   ';
const REFERENCE_DATA = 'fbffffffffffffff9a9999999999b93f0000c03f000000c000004040070000000102';
const REFERENCE_FILE = Buffer.concat([
  Buffer.from('a001000000000000', 'hex'),
  Buffer.from(REFERENCE_HEADER),
  Buffer.from(REFERENCE_DATA, 'hex'),
]);
const REFERENCE_TENSORS: NamedTensor[] = [
  { name: 'b', dtype: 'U8', shape: [2], data: new Uint8Array([1, 2]) },
  { name: 'a', dtype: 'F32', shape: [1, 2], data: new Float32Array([1.5, -2]) },
  { name: 'z', dtype: 'I32', shape: [1], data: new Int32Array([7]) },
  { name: 'd', dtype: 'F64', shape: [1], data: new Float64Array([0.1]) },
  { name: 'i', dtype: 'I64', shape: [1], data: new BigInt64Array([-5n]) },
  { name: 's', dtype: 'F32', shape: [], data: new Float32Array([3]) },
  { name: 'e', dtype: 'F32', shape: [0, 3], data: new Float32Array(0) },
];

/** A larger file that Python wrote. */
const GOLDEN = goldenFile('joint/joint-0.safetensors');

/** A file with the given header text (or object) and data, valid or not. */
function fileOf(header: unknown, data: readonly number[] = []): Uint8Array {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.byteLength));
  return Buffer.concat([length, text, Buffer.from(data)]);
}

function entry(begin: number, end: number, shape = [end - begin], dtype = 'U8'): object {
  return { dtype, shape, data_offsets: [begin, end] };
}

describe('safetensors, against the Python implementation', () => {
  it('writes the same bytes as safetensors 0.8.0 in any order of the tensors', () => {
    expect(Buffer.from(encodeSafetensors(REFERENCE_TENSORS, { k: 'v é' }))).toEqual(REFERENCE_FILE);
    expect(Buffer.from(encodeSafetensors(REFERENCE_TENSORS.toReversed(), { k: 'v é' }))).toEqual(REFERENCE_FILE);
  });

  it('reads what safetensors 0.8.0 wrote', () => {
    const { tensors, metadata } = decodeSafetensors(REFERENCE_FILE);
    expect(metadata).toEqual({ k: 'v é' });
    expect(tensors.map(({ name }) => name)).toEqual(['i', 'd', 'a', 'e', 's', 'z', 'b']);
    for (const expected of REFERENCE_TENSORS) expect(tensors).toContainEqual(expected);
  });

  it('reads a file of 259 tensors', async () => {
    const { tensors, metadata } = decodeSafetensors(await readFile(GOLDEN));
    expect(tensors).toHaveLength(259);
    expect(metadata.source).toContain('make_joint_golden.py');
    const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
    expect(byName.get('initial/conv1/kernel')?.shape).toEqual([10, 3, 3, 1, 3]);
    // Printed by Python: f.get_tensor(name).flatten()[index].
    expect(byName.get('initial/conv1/kernel')?.data[0]).toBe(-0.0024956068955361843);
    expect(byName.get('50/weights/fc1/bias')?.data[37]).toBe(-0.3895837366580963);
    expect(byName.get('95/next/fc2/kernel')?.data[123]).toBe(-0.04020693153142929);
    expect(byName.get('90/loss')?.data[0]).toBe(0.63138882985188);
    expect(byName.get('losses')?.data[99]).toBe(0.3560826495778286);
  });
});

describe('safetensors round trip', () => {
  it('keeps the bits of every value, including NaN and infinities, in views with any offset', () => {
    fc.assert(
      fc.property(fc.float32Array(), fc.uint8Array(), (floats, bytes) => {
        const shifted = new Uint8Array([0, ...bytes]).subarray(1);
        const decoded = decodeSafetensors(
          encodeSafetensors([
            { name: 'floats', dtype: 'F32', shape: [floats.length], data: floats },
            { name: 'bytes', dtype: 'U8', shape: [bytes.length], data: shifted },
          ]),
        ).tensors;
        expect(decoded.map(({ name }) => name).sort()).toEqual(['bytes', 'floats']);
        for (const { name, data } of decoded) expect(data).toEqual(name === 'floats' ? floats : bytes);
      }),
    );
  });

  it('handles an empty file, and pads the header with spaces to 8 bytes', () => {
    expect(Buffer.from(encodeSafetensors([])).toString('latin1')).toBe('\x08\0\0\0\0\0\0\0{}      ');
    expect(decodeSafetensors(encodeSafetensors([]))).toEqual({ tensors: [], metadata: {} });
  });

  it('refuses duplicate or reserved names, and shapes that do not fit', () => {
    const tensor: NamedTensor = { name: 'w', dtype: 'U8', shape: [1], data: new Uint8Array(1) };
    expect(() => encodeSafetensors([tensor, tensor])).toThrow('"w" is reserved or used twice');
    expect(() => encodeSafetensors([{ ...tensor, name: '__metadata__' }])).toThrow('reserved');
    expect(() => encodeSafetensors([{ ...tensor, shape: [2, 3] }])).toThrow(
      'has 1 values, but its shape [2, 3] holds 6',
    );
  });
});

describe('malformed safetensors files', () => {
  const cases: [fault: string, file: Uint8Array, message: string][] = [
    ['too short for a length', new Uint8Array(7), '7 bytes are too few'],
    ['header length beyond the limit', Buffer.from('01e1f50500000000', 'hex'), 'at most 100000000 are allowed'],
    ['header cut off', REFERENCE_FILE.subarray(0, 100), 'the header should end at byte 424, the file at 100'],
    ['data cut off', REFERENCE_FILE.subarray(0, -1), 'take 34 bytes, the file holds 33: the file is truncated'],
    ['bytes appended', fileOf({ a: entry(0, 1) }, [1, 2]), 'take 1 bytes, the file holds 2: something was appended'],
    ['no JSON', fileOf('{"a":'), 'the header is not JSON'],
    ['invalid UTF-8', Buffer.from('0200000000000000ff7d', 'hex'), 'the header is not JSON'],
    ['no object', fileOf('[]'), 'not a JSON object'],
    [
      'a hole',
      fileOf({ a: entry(0, 1), b: entry(2, 3) }, [1, 2, 3]),
      '"b" begins at byte 2 of the data and leaves a hole',
    ],
    [
      'an overlap',
      fileOf({ a: entry(0, 2), b: entry(1, 3) }, [1, 2, 3]),
      '"b" begins at byte 1 of the data and overlaps',
    ],
    [
      'a tensor beyond the file',
      fileOf({ a: entry(0, 9) }, [1]),
      'take 9 bytes, the file holds 1: the file is truncated',
    ],
    ['end before begin', fileOf({ a: entry(2, 1, [1]) }, [1, 2]), 'takes 1 bytes, not -1'],
    ['size unlike shape and type', fileOf({ a: entry(0, 3, [1], 'F32') }, [1, 2, 3]), 'takes 4 bytes, not 3'],
    [
      'an unsupported type',
      fileOf({ a: entry(0, 2, [1], 'BF16') }, [1, 2]),
      'has type BF16; convert it to one of I64, F64',
    ],
    ['a negative size', fileOf({ a: entry(0, 1, [-1]) }, [1]), 'tensor "a":'],
    ['a fraction as an offset', fileOf({ a: entry(0, 1.5, [1]) }, [1]), 'tensor "a":'],
    ['metadata that is no string', fileOf({ __metadata__: { epoch: 3 } }), '__metadata__ must map strings to strings'],
  ];
  it.each(cases)('%s', (_fault, file, message) => {
    expect(() => decodeSafetensors(file)).toThrow(message);
  });
});

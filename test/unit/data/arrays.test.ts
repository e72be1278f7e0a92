import { readFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { parseArrays } from '../../../workers/data/read-arrays.ts';
import { goldenFile, readGolden } from '../../golden/read-golden.ts';

const expected = readGolden('arrays/expected.json') as Record<string, { shape: number[]; values: number[] }>;
const golden = (name: string) => readFile(goldenFile(`arrays/${name}`));

describe('readArrays', () => {
  it.each(['stored.npz', 'deflated.npz'])('reads all types of %s, in both byte and memory orders', async (name) => {
    const arrays = parseArrays(await golden(name), name);
    expect(Object.keys(arrays).sort()).toEqual(Object.keys(expected).sort());
    for (const [array, { shape, values }] of Object.entries(expected)) {
      expect([array, arrays[array].shape]).toEqual([array, shape]);
      expect([...arrays[array].values]).toEqual(values.map((value) => Math.fround(value)));
    }
    expect(arrays.big_f2.values).toBeInstanceOf(Float32Array);
    expect(arrays.little_i8.values).toBeInstanceOf(Int32Array);
    expect(arrays.boolean.values).toBeInstanceOf(Uint8Array);
  });

  it('names the array of a .npy file like the file', async () => {
    const { fortran } = parseArrays(await golden('fortran.npy'), 'data/fortran.npy');
    expect(fortran).toEqual({ shape: [2, 3, 4], values: Float32Array.from({ length: 24 }, (_, i) => i) });
  });

  it('reads safetensors, and refuses types that data sets do not take', () => {
    const bytes = (dtype: 'F32' | 'F64') =>
      Buffer.from(
        encodeSafetensors([
          dtype === 'F32'
            ? { name: 'x', dtype, shape: [2], data: Float32Array.of(1, 2) }
            : { name: 'x', dtype, shape: [2], data: Float64Array.of(1, 2) },
        ]),
      );
    expect(parseArrays(bytes('F32'), 'x.safetensors')).toEqual({ x: { shape: [2], values: Float32Array.of(1, 2) } });
    expect(() => parseArrays(bytes('F64'), 'x.safetensors')).toThrow('x.safetensors: "x" is of type F64');
  });

  it('refuses objects, integers beyond int32, and files cut short', async () => {
    expect(() => parseArrays(Buffer.from('x'), 'x.txt')).toThrow('arrays are read from .npy, .npz and .safetensors');
    const [objects, wide, fortran] = await Promise.all(['objects.npy', 'wide.npy', 'fortran.npy'].map(golden));
    expect(() => parseArrays(objects, 'objects.npy')).toThrow('objects.npy holds elements of type |O');
    expect(() => parseArrays(wide, 'wide.npy')).toThrow('wide.npy holds 1099511627776, which int32 cannot hold');
    expect(() => parseArrays(fortran.subarray(0, -4), 'f.npy')).toThrow('shape (2, 3, 4) takes 96 bytes, it has 92');
  });

  it('refuses an archive that unpacks to more than its directory says', async () => {
    const archive = await golden('deflated.npz');
    const bomb = deflateRawSync(Buffer.alloc(100_000));
    const name = archive.indexOf('little_f2.npy');
    bomb.copy(archive, name + archive.readUInt16LE(name - 4) + archive.readUInt16LE(name - 2));
    expect(() => parseArrays(archive, 'bomb.npz')).toThrow('bomb.npz cannot be read');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInferRequest } from '../../../src-main/serving/read-request.ts';
import { columns, taking } from './tensors.ts';

const size = { name: 'size', datatype: 'FP64', shape: [2, 1], data: [[1.5], [null]] };
const sold = { name: 'sold', datatype: 'BOOL', shape: [2], data: [true, null] };
const town = { name: 'town', datatype: 'BYTES', shape: [2, 1], data: ['Bern', null] };
const image = taking({ name: 'images', datatype: 'UINT8', shape: [-1, 2, 2, 1], kind: 'values' });

describe('a request', () => {
  it('gives columns with missing values, in the order of the ensemble', () => {
    const body = { id: 'a', inputs: [town, sold, size], outputs: [{ name: 'members' }] };
    expect(readInferRequest(body, columns)).toEqual({
      id: 'a',
      samples: 2,
      outputs: ['members'],
      binaryOutputs: [],
      tensors: [
        { name: 'size', datatype: 'FP64', shape: [2, 1], values: Float64Array.of(1.5, Number.NaN) },
        { name: 'sold', datatype: 'BOOL', shape: [2], values: Float64Array.of(1, Number.NaN) },
        { name: 'town', datatype: 'BYTES', shape: [2, 1], values: ['Bern', null] },
      ],
    });
  });

  it('may leave out a column for whose missing values there is one, and give numbers as texts', () => {
    const own = taking(...columns.inputs.map((info) => ({ ...info, isOptional: info.name !== 'town' })));
    const texts = { name: 'size', datatype: 'BYTES', shape: [2], data: ['1,5', 'big'] };
    expect(readInferRequest({ inputs: [town, texts] }, own).tensors).toEqual([
      { name: 'size', datatype: 'BYTES', shape: [2], values: ['1,5', 'big'] },
      { name: 'town', datatype: 'BYTES', shape: [2, 1], values: ['Bern', null] },
    ]);
    expect(() => readInferRequest({ inputs: [size, sold] }, own)).toThrow('Give the input "town" once, not 0 times');
  });

  it('gives bytes as bytes and numbers as numbers, flat or nested', () => {
    const flat = { name: 'images', datatype: 'UINT8', shape: [1, 2, 2, 1], data: [0, 1, 2, 255] };
    const read = (input: object) => readInferRequest({ inputs: [input] }, image).tensors[0];
    expect(read(flat).values).toEqual(Uint8Array.of(0, 1, 2, 255));
    const nested = {
      ...flat,
      data: [
        [
          [[0], [1]],
          [[2], [255]],
        ],
      ],
    };
    expect(read(nested)).toEqual(read(flat));
    expect(read({ ...flat, datatype: 'FP32', data: [0, 0.5, 1, 1] }).values).toEqual(Float32Array.of(0, 0.5, 1, 1));
  });

  it.each([
    ['no inputs', { inputs: [] }, 'The request does not fit'],
    ['not an object', 7, 'The request does not fit'],
    [
      'an unknown input',
      { inputs: [{ ...size, name: 'area' }] },
      'There is no input "area". The ensemble takes size, sold, town.',
    ],
    ['a missing input', { inputs: [size, sold] }, 'Give the input "town" once, not 0 times'],
    ['an input twice', { inputs: [size, size, sold, town] }, 'Give the input "size" once, not 2 times'],
    [
      'another number of samples',
      { inputs: [{ ...size, shape: [1], data: [1] }, sold, town] },
      '"size" has 1 samples, "sold" has 2',
    ],
    ['another shape', { inputs: [{ ...size, shape: [1, 2] }, sold, town] }, 'has the shape [1, 2]; it must be [-1, 1]'],
    ['no samples', { inputs: [{ ...size, shape: [0, 1], data: [] }, sold, town] }, 'any size from 1'],
    ['too few values', { inputs: [{ ...size, data: [1] }, sold, town] }, 'has 1 values; its shape [2, 1] needs 2'],
    ['a text as a number', { inputs: [{ ...size, data: [1, '2'] }, sold, town] }, 'Value 1 of the input "size" is "2"'],
    ['a number beyond float32', { inputs: [{ ...size, data: [1, 1e39] }, sold, town] }, 'range of 32-bit floats'],
    [
      'another datatype',
      { inputs: [size, { ...sold, datatype: 'INT32' }, town] },
      'has the datatype "INT32"; it must be BOOL',
    ],
    ['a number as a text', { inputs: [size, sold, { ...town, data: [1, 'a'] }] }, 'Value 0 of the input "town" is 1'],
  ])('with %s is refused', (_what, body, message) => {
    expect(() => readInferRequest(body, columns)).toThrow(message);
  });

  it('gives columns of any names where the project turns them into inputs', () => {
    const own = {
      ...taking({ name: 'features', datatype: 'FP32', shape: [-1, 2], kind: 'values' }),
      takesColumns: true,
    };
    const body = { inputs: [town, sold, { ...size, datatype: 'INT32', data: [1, null] }] };
    expect(readInferRequest(body, own).tensors).toEqual([
      { name: 'town', datatype: 'BYTES', shape: [2, 1], values: ['Bern', null] },
      { name: 'sold', datatype: 'BOOL', shape: [2], values: Float64Array.of(1, Number.NaN) },
      { name: 'size', datatype: 'FP64', shape: [2, 1], values: Float64Array.of(1, Number.NaN) },
    ]);
    const features = { name: 'features', datatype: 'FP32', shape: [1, 2], data: [1, 2] };
    expect(readInferRequest({ inputs: [features] }, own).tensors[0].values).toEqual(Float32Array.of(1, 2));
    expect(() => readInferRequest({ inputs: [features, town] }, own)).toThrow(
      'There is no input "town". The ensemble takes features, or columns for the project.',
    );
    expect(() => readInferRequest({ inputs: [{ ...town, datatype: 'text' }] }, own)).toThrow('a column is FP64');
    expect(() => readInferRequest({ inputs: [town, town] }, own)).toThrow('Give the input "town" once, not 2 times');
    expect(() => readInferRequest({ inputs: [{ ...size, shape: [1, 2] }] }, own)).toThrow('it must be [-1, 1]');
  });

  it('with values that are no bytes is refused', () => {
    for (const value of [256, -1, 0.5, null]) {
      const input = { name: 'images', datatype: 'UINT8', shape: [1, 2, 2, 1], data: [0, 0, 0, value] };
      expect(() => readInferRequest({ inputs: [input] }, image)).toThrow('a whole number from 0 to 255');
    }
  });

  it('of any shape gives its values in row-major order', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sizes, (shape) => {
        const count = shape.reduce((product, own) => product * own, 1);
        const flat = Array.from({ length: count }, (_, i) => i);
        const nest = (values: unknown[], rest: number[]): unknown[] =>
          rest.length === 1
            ? values
            : Array.from({ length: rest[0] }, (_, i) =>
                nest(values.slice((i * values.length) / rest[0], ((i + 1) * values.length) / rest[0]), rest.slice(1)),
              );
        const info = taking({ name: 'x', datatype: 'FP32', shape: shape.map(() => -1), kind: 'values' });
        const body = { inputs: [{ name: 'x', datatype: 'FP32', shape, data: nest(flat, shape) }] };
        expect([...readInferRequest(body, info).tensors[0].values]).toEqual(flat);
      }),
    );
  });
});

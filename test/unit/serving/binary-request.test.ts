import { describe, expect, it } from 'vitest';
import type { InputInfo, Tensor } from '../../../core/ensemble/tensors.ts';
import { answerBody, lengthHeader, splitBody } from '../../../src-main/serving/infer-body.ts';
import { readInferRequest } from '../../../src-main/serving/read-request.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { columns, taking } from './tensors.ts';

interface Recorded {
  name: string;
  datatype: Tensor['datatype'];
  shape: number[];
  values: (number | string | boolean | null)[];
}

/** What tritonclient.http sends and reads. */
const { requests, answer } = readGolden('serving/requests.json') as {
  requests: { name: string; body: string; jsonBytes: number | null; inputs: Recorded[] }[];
  answer: { json: object; binary: string; outputs: Recorded[] };
};
const features = taking({ name: 'features', datatype: 'FP32', shape: [-1, 2], kind: 'values' });

/** A request of one input with these bytes. */
function read(input: object, bytes: Uint8Array, infos = features) {
  return readInferRequest({ inputs: [{ name: 'features', datatype: 'FP32', shape: [1, 2], ...input }] }, infos, bytes);
}

const float32 = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const announced = (size: number) => ({ parameters: { binary_data_size: size } });

describe('a request of tritonclient', () => {
  it.each(requests.filter(({ name }) => name !== 'columns'))('in $name gives its values', (recorded) => {
    const { json, binary } = splitBody(Buffer.from(recorded.body, 'base64'), recorded.jsonBytes?.toString());
    const { tensors, samples, binaryOutputs } = readInferRequest(json, features, binary);
    const [expected] = recorded.inputs;
    expect([samples, tensors[0].shape, binaryOutputs]).toEqual([3, [3, 2], recorded.name === 'JSON' ? [] : 'all']);
    const type = recorded.name === 'UINT8' ? Uint8Array : Float32Array;
    expect(tensors[0].values).toEqual(type.from(expected.values as number[]));
  });

  it('with columns gives numbers, booleans and texts, and says which outputs are binary', () => {
    const { body, jsonBytes, inputs } = requests.find(({ name }) => name === 'columns')!;
    const { json, binary } = splitBody(Buffer.from(body, 'base64'), String(jsonBytes));
    const [size, sold, town] = inputs.map(({ values }) => values);
    expect(readInferRequest(json, columns, binary)).toEqual({
      id: 'a',
      samples: 3,
      outputs: ['mean', 'members'],
      binaryOutputs: ['mean'],
      tensors: [
        {
          name: 'size',
          datatype: 'FP64',
          shape: [3, 1],
          values: Float64Array.from(size, (value) => (value === null ? Number.NaN : Number(value))),
        },
        { name: 'sold', datatype: 'BOOL', shape: [3, 1], values: Float64Array.from(sold, (value) => Number(value)) },
        { name: 'town', datatype: 'BYTES', shape: [3, 1], values: town },
      ],
    });
  });
});

it('an answer holds what tritonclient reads', () => {
  const arrays = { FP64: Float64Array, FP32: Float32Array, INT32: Int32Array, BOOL: Uint8Array, UINT8: Uint8Array };
  const tensors = answer.outputs.map(({ name, datatype, shape, values }): Tensor => {
    const own = datatype === 'BYTES' ? (values as string[]) : arrays[datatype].from((values as number[]).map(Number));
    return { name, datatype, shape, values: own };
  });
  const predicted = { outputs: tensors, warnings: [] };
  const { bytes, headers } = answerBody('houses', { id: 'a', binaryOutputs: 'all' }, predicted);
  const { json, binary } = splitBody(bytes, headers[lengthHeader]);
  expect(json).toEqual(answer.json);
  expect(Buffer.from(binary).toString('base64')).toBe(answer.binary);
  const mixed = answerBody('houses', { id: null, binaryOutputs: ['label'] }, predicted);
  const parsed = splitBody(mixed.bytes, mixed.headers[lengthHeader]) as { json: { outputs: object[] }; binary: Buffer };
  expect(parsed.json.outputs.slice(1, 3)).toEqual([
    { name: 'label', datatype: 'INT32', shape: [2], parameters: { binary_data_size: 8 } },
    { name: 'class', datatype: 'BYTES', shape: [2], data: ['Zürich', ''] },
  ]);
  expect([...parsed.binary]).toEqual([2, 0, 0, 0, 0, 0, 0, 0]);
});

it('a body that is not UTF-8 is refused, not read with other characters', () => {
  expect(() => splitBody(Buffer.from('{"id": "Zürich"}', 'latin1'), undefined)).toThrow(
    'The body is not JSON: The body, line 1: byte 10 of the line is 0xFC, which is not UTF-8',
  );
});

describe('a binary request', () => {
  it.each([
    ['too few bytes', announced(8), float32(1), 'announce 8 bytes of binary data (binary_data_size), and 4 follow'],
    [
      'too many bytes',
      announced(8),
      float32(1, 2, 3),
      'announce 8 bytes of binary data (binary_data_size), and 12 follow',
    ],
    ['another size than its shape', announced(12), float32(1, 2, 3), 'has 12 bytes; FP32 of its shape [1, 2] needs 8'],
    ['data twice', { ...announced(8), data: [1, 2] }, float32(1, 2), 'must have either "data" or the parameter'],
    ['no data', {}, new Uint8Array(0), 'must have either "data" or the parameter'],
    ['a size that is none', announced(-8), new Uint8Array(0), 'does not fit'],
    ['a value that is not finite', announced(8), float32(1, Number.NaN), 'Value 1 of the input "features" is NaN'],
    [
      'shared memory',
      { ...announced(0), parameters: { shared_memory_region: 'a' }, data: [1, 2] },
      new Uint8Array(0),
      '"shared_memory_region" of "features" is not supported',
    ],
    [
      'texts for numbers',
      { ...announced(4), datatype: 'BYTES' },
      new Uint8Array(4),
      'must be FP32, or another numeric one',
    ],
  ] as const)('with %s is refused', (_what, input, bytes, message) => {
    expect(() => read(input, bytes)).toThrow(message);
  });

  it.each([
    ['a boolean that is neither 0 nor 1', 'BOOL', [2], 'Value 0 of the input "sold" is 2; it must be the byte 0 or 1'],
    ['a text that ends early', 'BYTES', [3, 0, 0, 0, 65], 'end before value 0'],
    ['a length that ends early', 'BYTES', [3, 0], 'end before value 0'],
    ['bytes after the last text', 'BYTES', [1, 0, 0, 0, 65, 66], 'has 6 bytes; BYTES of its shape [1] needs 5'],
    ['a text that is not UTF-8', 'BYTES', [1, 0, 0, 0, 0xff], 'it must be a text in UTF-8'],
  ] as const)('with %s is refused', (_what, datatype, bytes, message) => {
    const column: InputInfo = { name: 'sold', datatype, shape: [-1, 1], kind: 'column' };
    const input = { name: 'sold', datatype, shape: [1], ...announced(bytes.length) };
    expect(() => read(input, Uint8Array.from(bytes), taking(column))).toThrow(message);
  });

  it('needs a header with the length of its JSON', () => {
    for (const length of ['-1', '1.5', 'x', '3', '']) {
      expect(() => splitBody(Buffer.from('{}'), length)).toThrow(
        'must be the number of bytes of JSON in the body, at most 2',
      );
    }
    expect(() => splitBody(Buffer.from('{}'), '1')).toThrow('The body is not JSON');
  });
});

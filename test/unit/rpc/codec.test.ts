import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame } from '../../../core/protocol/wire/frame-encoder.ts';
import { decodeRpc, encodeRpc } from '../../../core/protocol/pages/rpc.ts';

const typedArrays = fc.oneof(
  fc.float32Array(),
  fc.float64Array(),
  fc.int32Array(),
  fc.uint8Array(),
) as fc.Arbitrary<unknown>;

const { tree: values } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.constant(null), fc.boolean(), fc.string(), fc.double()),
    typedArrays,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('$', '$array', '$$number', '$error', '__proto__')),
      tie('tree'),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    ),
  ),
}));

describe('calls as bytes', () => {
  it('are decoded unchanged, whatever they hold', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decodeRpc(encodeRpc(value))).toEqual(value);
      }),
    );
  });

  it('keep NaN, infinities and the sign of zero, alone and in arrays', () => {
    const value = {
      alone: [Number.NaN, Infinity, -Infinity, -0],
      series: { value: Float64Array.of(1, Number.NaN, -0), step: Int32Array.of(-1, 2) },
    };
    // Strict equality tells -0 from 0.
    expect(decodeRpc(encodeRpc(value))).toStrictEqual(value);
  });

  it('send only the viewed part of a larger array', () => {
    const whole = Float32Array.of(1, 2, 3, 4);
    expect(decodeRpc(encodeRpc({ part: whole.subarray(1, 3) }))).toEqual({ part: Float32Array.of(2, 3) });
  });

  it('carry only the message of an error', () => {
    const error = Object.assign(new TypeError('No such run.'), { path: '/secret' });
    expect(decodeRpc(encodeRpc({ e: error }))).toStrictEqual({ e: new Error('No such run.') });
  });

  it.each([[new Map()], [new Date(0)], [new Int16Array(2)], [new BigInt64Array(1)]])(
    'refuse values that would decode differently: %o',
    (value) => {
      expect(() => encodeRpc({ value })).toThrow(/cannot travel/);
    },
  );
});

describe('invalid bytes', () => {
  const message = (json: unknown): Uint8Array =>
    Buffer.concat(encodeFrame({ kind: 'message', message: json, arrays: [Int32Array.of(1)] }));

  it.each([
    ['an array that is not there', { $array: 1 }],
    ['a negative index', { $array: -1 }],
    ['an index that is a name', { $array: 'length' }],
    ['a number that needs no spelling', { $number: '1' }],
    ['a special object with more in it', { $array: 0, more: 1 }],
    ['a special key after others', { more: 1, $array: 0 }],
    ['an unknown special object', { $function: 'x' }],
  ])('are refused: %s', (_what, json) => {
    expect(() => decodeRpc(message(json))).toThrow(/means nothing here/);
  });

  it('are refused when truncated, doubled or of another kind', () => {
    const whole = encodeRpc({ m: 'health' });
    const collective = Buffer.concat(encodeFrame({ kind: 'collective', phase: 'failure', reason: 'x' }));
    expect(() => decodeRpc(whole.subarray(0, -1))).toThrow('not one whole frame');
    expect(() => decodeRpc(Buffer.concat([whole, whole]))).toThrow('not one whole frame');
    expect(() => decodeRpc(new Uint8Array(0))).toThrow('not one whole frame');
    expect(() => decodeRpc(collective)).toThrow('not a collective');
  });

  it('cannot make the hub allocate memory that they only announce', () => {
    const head = new Uint8Array(12);
    new DataView(head.buffer).setUint32(4, 2 ** 29, true);
    expect(() => decodeRpc(head)).toThrow('A message of 12 bytes is not one whole frame.');
  });

  it('are refused at random with a descriptive error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(() => decodeRpc(bytes)).toThrow(/frame/i);
      }),
    );
  });
});

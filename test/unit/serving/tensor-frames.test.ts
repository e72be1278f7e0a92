import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  frameOfReply,
  frameOfRequest,
  replyOfFrame,
  requestOfFrame,
  type ServeReply,
} from '../../../core/ensemble/serving.ts';
import type { Tensor } from '../../../core/ensemble/tensors.ts';
import { FrameDecoder } from '../../../core/protocol/wire/frame-decoder.ts';
import { encodeFrame } from '../../../core/protocol/wire/frame-encoder.ts';
import type { Frame, MessageFrame } from '../../../core/protocol/wire/frames.ts';

/** A frame after its way through a pipe. */
function sent(frame: MessageFrame): Frame {
  const decoder = new FrameDecoder();
  return encodeFrame(frame).flatMap((part) => decoder.push(part))[0];
}

const counts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 });
const sizeOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
const numbersOf = (size: number) => fc.array(fc.double(), { minLength: size, maxLength: size });
const arrays = { FP64: Float64Array, BOOL: Float64Array, FP32: Float32Array, INT32: Int32Array, UINT8: Uint8Array };
const tensors: fc.Arbitrary<Tensor> = counts.chain((shape) =>
  fc.oneof(
    fc.constantFrom('FP64', 'BOOL', 'FP32', 'INT32', 'UINT8').chain((datatype) =>
      numbersOf(sizeOf(shape)).map((values) => ({
        name: 'x',
        datatype,
        shape,
        values: arrays[datatype].from(values),
      })),
    ),
    fc
      .array(fc.option(fc.string({ unit: 'grapheme' })), { minLength: sizeOf(shape), maxLength: sizeOf(shape) })
      .map((values): Tensor => ({ name: 'town', datatype: 'BYTES', shape, values })),
  ),
);

const warningOf = (rows: number) => {
  return {
    column: 'town',
    rows,
    missing: 0,
    mistyped: 1,
    mistypedValues: [{ value: 'big', count: 1 }],
    unseen: rows,
    unseenValues: [{ value: 'Genf', count: rows }],
    outside: 0,
    outsideValues: [],
  };
};

describe('messages between the server and its process', () => {
  it('keep tensors of all types', () => {
    fc.assert(
      fc.property(fc.array(tensors), fc.option(fc.array(fc.string())), counts, (own, outputs, parts) => {
        const request = { tensors: own, outputs, parts };
        expect(requestOfFrame(sent(frameOfRequest(request)))).toStrictEqual(request);
        const reply: ServeReply = { type: 'predicted', outputs: own, warnings: parts.map((rows) => [warningOf(rows)]) };
        expect(replyOfFrame(sent(frameOfReply(reply)))).toStrictEqual(reply);
      }),
    );
  });

  it('with other arrays than their tensors need are refused', () => {
    const info = { name: 'x', datatype: 'FP32', shape: [2], texts: null };
    const reply = (outputs: object[], ...values: Float32Array<ArrayBuffer>[]) =>
      replyOfFrame({ kind: 'message', message: { type: 'predicted', outputs, warnings: [] }, arrays: values });
    expect(() => reply([info], Float32Array.of(1))).toThrow('"x" of shape [2] came with 1 values');
    expect(() => reply([info])).toThrow('"x" of shape [2] came with 0 values');
    expect(() => reply([], Float32Array.of(1))).toThrow('1 arrays more than tensors');
    expect(() => reply([{ ...info, datatype: 'FP8' }])).toThrow('datatype');
  });
});

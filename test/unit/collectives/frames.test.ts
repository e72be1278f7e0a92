import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectiveOperations, collectiveStages } from '../../../core/protocol/wire/collective-stages.ts';
import { type CollectiveArray, noSignals, reduceOperations } from '../../../core/protocol/wire/collectives.ts';
import { createArray, dataTypes, type WireArray } from '../../../core/protocol/wire/arrays.ts';
import { FrameDecoder } from '../../../core/protocol/wire/frame-decoder.ts';
import { encodeFrame } from '../../../core/protocol/wire/frame-encoder.ts';
import type { Frame } from '../../../core/protocol/wire/frames.ts';

const bytesOf = (frame: Frame): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(encodeFrame(frame)));
const bitsOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();

/** Arrays of any type over arbitrary bits: NaNs with payloads, infinities, denormals. */
const wireArray = fc
  .tuple(fc.constantFrom(...dataTypes), fc.uint8Array({ maxLength: 64 }))
  .map(([dataType, bits]): WireArray => {
    const elementBytes = createArray(dataType, 0).BYTES_PER_ELEMENT;
    const array = createArray(dataType, Math.floor(bits.length / elementBytes));
    new Uint8Array(array.buffer).set(bits.subarray(0, array.byteLength));
    return array;
  });

const messageFrame = fc
  .tuple(fc.jsonValue(), fc.array(wireArray, { maxLength: 4 }))
  // JSON has no -0. Numbers that affect results travel in arrays.
  .map(([message, arrays]): Frame => ({ kind: 'message', message: JSON.parse(JSON.stringify(message)), arrays }));

const callFrame = fc
  .record({
    phase: fc.constantFrom('request' as const, 'result' as const),
    operation: fc.constantFrom(...collectiveOperations),
    reduce: fc.option(fc.constantFrom(...reduceOperations)),
    root: fc.option(fc.nat(255)),
    distance: fc.option(fc.integer({ min: 1, max: 255 })),
    sequence: fc.nat(0xffffffff),
    stage: fc.constantFrom(...collectiveStages),
    signals: fc.record({ controls: fc.nat(0xffffffff), halt: fc.boolean() }, { noNullPrototype: true }),
    data: fc.option(wireArray),
  })
  .map(({ phase, operation, reduce, root, distance, sequence, stage, signals, data }): Frame => {
    const dataType =
      data === null ? 'uint8' : dataTypes.find((name) => createArray(name, 0).constructor === data.constructor);
    const shape = data === null ? [3, 5] : [1, data.length];
    const call = { operation, reduce, dataType: dataType ?? 'uint8', shape, root, distance, sequence, stage };
    return { kind: 'collective', phase, call, signals, data };
  });

const failureFrame = fc
  .string({ unit: 'grapheme' })
  .map((reason): Frame => ({ kind: 'collective', phase: 'failure', reason }));

const frames = fc.array(fc.oneof(messageFrame, callFrame, failureFrame), { minLength: 1, maxLength: 6 });

function decodeInChunks(bytes: Uint8Array, sizes: readonly number[]): Frame[] {
  const decoder = new FrameDecoder();
  const decoded: Frame[] = [];
  for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length];
    decoded.push(...decoder.push(bytes.subarray(offset, offset + size)));
    offset += size;
  }
  expect(decoder.isInsideFrame).toBe(false);
  return decoded;
}

describe('frames', () => {
  it('survive any chunking of the stream, bit for bit', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 9 }), (sent, sizes) => {
        const received = decodeInChunks(Buffer.concat(sent.flatMap(encodeFrame)), sizes);
        expect(received).toStrictEqual(sent);
        expect(received.map((frame) => arraysOf(frame).map(bitsOf))).toStrictEqual(
          sent.map((frame) => arraysOf(frame).map(bitsOf)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('of many megabytes come back bit for bit', () => {
    // A pattern whose length is prime to every size of a part.
    const pattern = Uint8Array.from({ length: 251 }, (_, index) => (index * 7) % 256);
    const data = new Uint8Array(70 * 2 ** 20);
    for (let at = 0; at < data.length; at += pattern.length) data.set(pattern.subarray(0, data.length - at), at);
    const frame: Frame = { kind: 'message', message: 'large', arrays: [data] };
    const decoder = new FrameDecoder();
    const stream = Buffer.concat(encodeFrame(frame));
    const decoded: Frame[] = [];
    for (let at = 0; at < stream.length; at += 3_000_001)
      decoded.push(...decoder.push(stream.subarray(at, at + 3_000_001)));
    expect(decoded).toHaveLength(1);
    const [array] = arraysOf(decoded[0]);
    expect(Buffer.compare(Buffer.from(array.buffer), Buffer.from(data.buffer))).toBe(0);
    expect(decoder.isInsideFrame).toBe(false);
  });

  it('are encoded as documented', () => {
    const data = new Float32Array([1, -2]);
    const call = {
      operation: 'all-reduce',
      reduce: 'max',
      dataType: 'float32',
      shape: [2],
      root: null,
      distance: null,
      sequence: 258,
      stage: 'written',
    } as const;
    expect([
      ...bytesOf({ kind: 'collective', phase: 'request', call, signals: { controls: 3, halt: true }, data }),
    ]).toStrictEqual(
      [
        [28, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0], // 28 bytes of description, 8 of payload, a collective
        [0, 1, 4, 0, 1, 1, 1, 2], // request, all-reduce, max, float32, one dimension, with payload, signals to halt, written
        [2, 1, 0, 0, 255, 255, 255, 255], // sequence number 258, no root
        [3, 0, 0, 0], // has received three controls
        [0, 0, 0, 0], // no distance
        [2, 0, 0, 0], // two elements
        [0, 0, 128, 63, 0, 0, 0, 192], // 1, -2
      ].flat(),
    );
    const message = { kind: 'message' as const, message: 'é', arrays: [Uint8Array.of(7), Int32Array.of(-1)] };
    expect([...bytesOf(message)]).toStrictEqual(
      [
        [28, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0], // 28 bytes of description, 12 of payload, a message
        [2, 0, 0, 0, 0, 0, 0, 0], // two arrays
        [3, 0, 0, 0, 1, 0, 0, 0], // uint8, one element
        [2, 0, 0, 0, 1, 0, 0, 0], // int32, one element
        [34, 195, 169, 34], // "é"
        [7, 0, 0, 0, 0, 0, 0, 0], // 7, padding
        [255, 255, 255, 255], // -1
      ].flat(),
    );
  });

  it("encode a message's NaN and infinities as numbers.ts does", () => {
    const [frame] = new FrameDecoder().push(
      bytesOf({ kind: 'message', message: { loss: NaN, best: -Infinity }, arrays: [] }),
    );
    expect(frame).toStrictEqual({ kind: 'message', message: { loss: 'NaN', best: '-Infinity' }, arrays: [] });
  });

  it("do not copy a collective's array when encoded, and do not alias the stream when decoded", () => {
    const data = new Float32Array([1, 2, 3]);
    const call = {
      operation: 'all-gather',
      reduce: null,
      dataType: 'float32',
      shape: [3],
      root: null,
      distance: null,
      sequence: 1,
      stage: 'whole',
    } as const;
    const parts = encodeFrame({ kind: 'collective', phase: 'request', call, signals: noSignals, data });
    expect(parts[1].buffer).toBe(data.buffer);
    const stream = Buffer.concat(parts);
    const [frame] = new FrameDecoder().push(stream);
    stream.fill(0);
    expect(frame).toMatchObject({ data });
  });
});

describe('a stream of invalid frames', () => {
  const request = (): Uint8Array =>
    bytesOf({
      kind: 'collective',
      phase: 'request',
      call: {
        operation: 'broadcast',
        reduce: null,
        dataType: 'int32',
        shape: [2],
        root: 0,
        distance: null,
        sequence: 1,
        stage: 'whole',
      },
      signals: noSignals,
      data: new Int32Array([1, 2]),
    });
  const corrupt = (offset: number, value: number): Uint8Array => {
    const bytes = request();
    bytes[offset] = value;
    return bytes;
  };

  it.each([
    ['a text', new TextEncoder().encode('GET / HTTP/1.1\r\n\r\n'), /unknown kind of frame 84/],
    ['an unknown kind', corrupt(8, 9), /unknown kind of frame 9/],
    ['reserved bytes in use', corrupt(9, 1), /bad head/],
    ['a payload above 1 GiB', corrupt(7, 255), /28 \+ 42\d{8} bytes; 8 \+ 0 to 1073741824 are allowed/],
    ['a description above 1 GiB', corrupt(3, 64), /announces 1073741852 \+ 8 bytes/],
    ['no description', corrupt(0, 0), /announces 0 \+ 8 bytes/],
    ['an unknown phase', corrupt(12, 3), /unknown phase 3/],
    ['an unknown operation', corrupt(13, 77), /unknown operation 77/],
    ['an unknown reduce operation', corrupt(14, 5), /unknown reduce operation 4/],
    ['an unknown data type', corrupt(15, 200), /unknown data type 200/],
    ['more dimensions than there are bytes', corrupt(16, 255), /28 \+ 8 bytes cannot be read/],
    ['a payload that it says is not there', corrupt(17, 0), /8 bytes of arrays describes 0 bytes/],
    ['a shape that does not fit the payload', corrupt(36, 3), /8 bytes of arrays describes 12 bytes/],
  ])('%s is refused', (_what, bytes, message) => {
    expect(() => new FrameDecoder().push(bytes)).toThrow(message);
  });

  it.each([
    ['text that is not JSON', 28, /cannot be read/],
    ['more arrays than are described', 12, /cannot be read|unknown data type/],
    ['arrays longer than its payload', 24, /cannot be read/],
  ])('a message with %s is refused', (_what, offset, message) => {
    const bytes = bytesOf({ kind: 'message', message: { a: 1 }, arrays: [Int32Array.of(1)] });
    bytes[offset] = 0xee;
    expect(() => new FrameDecoder().push(bytes)).toThrow(message);
  });

  it('a frame above the limit is not sent', () => {
    const call = {
      operation: 'broadcast',
      reduce: null,
      dataType: 'uint8',
      shape: [2 ** 30],
      root: 0,
      distance: null,
      sequence: 1,
      stage: 'whole',
    } as const;
    const data = new Uint8Array(2 ** 30);
    expect(() => encodeFrame({ kind: 'collective', phase: 'request', call, signals: noSignals, data })).toThrow(
      /above the limit of 1073741824/,
    );
  });

  it('takes no memory for bytes that were announced and have not come', () => {
    const head = request().subarray(0, 12);
    const before = process.memoryUsage().arrayBuffers;
    const held = Array.from({ length: 8 }, () => {
      const decoder = new FrameDecoder();
      new DataView(head.buffer, head.byteOffset).setUint32(0, 2 ** 29, true);
      decoder.push(head);
      return decoder;
    });
    const taken = process.memoryUsage().arrayBuffers - before;
    expect(held.every((decoder) => decoder.isInsideFrame)).toBe(true);
    expect(taken).toBeLessThan(512 * 2 ** 20);
  });

  it('detects an end inside a frame', () => {
    const decoder = new FrameDecoder();
    decoder.push(request().subarray(0, 3));
    expect(decoder.isInsideFrame).toBe(true);
  });
});

function arraysOf(frame: Frame): CollectiveArray[] {
  if (frame.kind === 'message') return frame.arrays;
  return frame.phase === 'failure' || frame.data === null ? [] : [frame.data];
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addOneBit,
  blockLength,
  decodeOneBit,
  encodeOneBit,
  encodeWithFeedback,
} from '../../../../core/compression/one-bit.ts';
import { decodeBfloat16, encodeBfloat16 } from '../../../../core/protocol/wire/arrays.ts';

const values = fc
  .array(fc.float({ min: -8, max: 8, noNaN: true }), { minLength: 0, maxLength: 40 })
  .map((list) => Float32Array.from(list));
const oneBit = { encode: encodeOneBit, decode: decodeOneBit };
const bfloat16 = { encode: encodeBfloat16, decode: (halves: Uint16Array) => decodeBfloat16(halves) };

describe('one bit per value', () => {
  it('keeps the mean of each sign, by hand', () => {
    const bytes = encodeOneBit(Float32Array.of(1, -1, 3, 0, -5));
    // Upper mean (1 + 3 + 0) / 3, lower mean −3; bits 0, 2 and 3.
    const third = Math.fround(4 / 3);
    expect([...decodeOneBit(bytes, 5)]).toEqual([third, -3, third, third, -3]);
    expect([...bytes.subarray(8)]).toEqual([0b01101]);
  });

  it('has means for each block, so that 4096 values take 544 bytes instead of 16,384', () => {
    const blocks = Float32Array.from({ length: 4 * blockLength }, (_, i) => 1 + Math.floor(i / blockLength));
    const bytes = encodeOneBit(blocks);
    expect(bytes.length).toBe(4 * 8 + 512);
    expect(decodeOneBit(bytes, blocks.length)).toEqual(blocks);
  });

  it('keeps the sum of a block, signs, and any part of the values', () => {
    fc.assert(
      fc.property(values, fc.nat(40), (original, cut) => {
        const bytes = encodeOneBit(original);
        const decoded = decodeOneBit(bytes, original.length);
        const sum = (of: Float32Array) => of.reduce((total, value) => total + value, 0);
        expect(Math.abs(sum(decoded) - sum(original))).toBeLessThan(1e-4);
        original.forEach((value, i) => expect(decoded[i] >= 0).toBe(value >= 0));
        const from = Math.min(cut, original.length);
        const part = new Float32Array(original.length - from).fill(1);
        addOneBit(bytes, original.length, from, part);
        expect(part).toEqual(decoded.slice(from).map((value) => value + 1));
      }),
      { seed: 1 },
    );
  });

  it('keeps NaN within its block', () => {
    const infected = new Float32Array(blockLength + 1).fill(2);
    infected[3] = NaN;
    const decoded = decodeOneBit(encodeOneBit(infected), infected.length);
    expect(decoded[3]).toBeNaN();
    expect(decoded[blockLength]).toBe(2);
  });
});

describe('error feedback', () => {
  it('of bfloat16 loses nothing: what is decoded and the residual are the values, exactly', () => {
    fc.assert(
      fc.property(values, (original) => {
        const residual = new Float32Array(original.length);
        const decoded = decodeBfloat16(encodeWithFeedback(original, residual, bfloat16));
        expect(decoded.map((value, i) => value + residual[i])).toEqual(original.map((value) => value + 0));
      }),
      { seed: 2 },
    );
  });

  it('of one bit sends over time what was given: the sum of what was decoded and the residual are the sum of the values', () => {
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 8 }), (drawn) => {
        const length = Math.min(...drawn.map((each) => each.length));
        const residual = new Float32Array(length);
        const sent = new Float64Array(length);
        const given = new Float64Array(length);
        for (const each of drawn) {
          const own = each.subarray(0, length);
          const decoded = decodeOneBit(encodeWithFeedback(own, residual, oneBit), length);
          own.forEach((value, i) => {
            sent[i] += decoded[i];
            given[i] += value;
          });
        }
        given.forEach((total, i) => expect(Math.abs(sent[i] + residual[i] - total)).toBeLessThan(1e-4));
      }),
      { seed: 3 },
    );
  });

  it('forgets what is not finite', () => {
    const residual = Float32Array.of(1, 1);
    encodeWithFeedback(Float32Array.of(NaN, 2), residual, bfloat16);
    expect([...residual]).toEqual([0, 0]);
  });
});

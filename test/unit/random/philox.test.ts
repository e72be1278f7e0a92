import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multiplyHigh, philox4x32 } from '../../../core/random/philox.ts';

function philox(counter: number[], key: number[]): number[] {
  const block = new Uint32Array(4);
  philox4x32(Uint32Array.from(counter), Uint32Array.from(key), block);
  return [...block];
}

describe('philox4x32', () => {
  // Random123, tests/kat_vectors, lines "philox4x32 10".
  it.each([
    ['zeros', [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
    [
      'ones',
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      'digits of pi',
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ])('gives the known answer for %s', (_name, counter, key, expected) => {
    expect(philox(counter, key)).toEqual(expected);
  });

  it('does not change counter and key', () => {
    const counter = Uint32Array.of(1, 2, 3, 4);
    const key = Uint32Array.of(5, 6);
    philox4x32(counter, key, new Uint32Array(4));
    expect([...counter, ...key]).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('multiplyHigh', () => {
  it('is the upper half of the 64-bit product', () => {
    const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 0xffff, 0x10000, 0xffffffff));
    fc.assert(
      fc.property(word, word, (left, right) => {
        expect(multiplyHigh(left, right)).toBe(Number((BigInt(left) * BigInt(right)) >> 32n));
      }),
    );
  });
});

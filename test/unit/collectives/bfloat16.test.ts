import { describe, expect, it } from 'vitest';
import { decodeBfloat16, encodeBfloat16 } from '../../../core/protocol/wire/arrays.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

const rounded = (...values: number[]): number[] => [...decodeBfloat16(encodeBfloat16(Float32Array.from(values)))];

describe('bfloat16', () => {
  it('is the upper half of a float32: 1 is 0x3f80, -2 is 0xc000', () => {
    expect([...encodeBfloat16(Float32Array.of(1, -2, 0))]).toEqual([0x3f80, 0xc000, 0]);
  });

  it('rounds to nearest, ties to even', () => {
    // Neighbours of 1 are 1 + 1/128 and 1 + 2/128. The first half lies between 1 (even) and 1 + 1/128.
    expect(rounded(1 + 1 / 256, 1 + 3 / 256, 1 + 1 / 256 + 1e-6)).toEqual([1, 1 + 2 / 128, 1 + 1 / 128]);
  });

  it.each([
    // Ties: the lower half is 0x8000, and the even upper half wins.
    [0x3f808000, 0x3f80],
    [0x3f818000, 0x3f82],
    [0xbf818000, 0xbf82],
    [0x3f808001, 0x3f81],
    // Subnormal values round alike; half of the smallest one is a tie with zero.
    [0x00008000, 0x0000],
    [0x00008001, 0x0001],
    [0x00018000, 0x0002],
    [0x007fffff, 0x0080],
    // The largest float32 is nearer to 2^128 than to the largest bfloat16.
    [0x7f7fffff, 0x7f80],
    [0x7f7f7fff, 0x7f7f],
    [0x7f800001, 0x7fc0],
  ])('of bits %i is %i', (bits, half) => {
    expect([...encodeBfloat16(new Float32Array(Uint32Array.of(bits).buffer))]).toEqual([half]);
  });

  it('keeps infinities, signed zeros and NaN, even one with all fraction bits set', () => {
    expect(rounded(Infinity, -Infinity, -0, NaN)).toEqual([Infinity, -Infinity, -0, NaN]);
    const allOnes = new Float32Array(Uint32Array.of(0x7fffffff).buffer);
    expect(decodeBfloat16(encodeBfloat16(allOnes))[0]).toBeNaN();
  });
});

describe('a sum of bfloat16 over ranks', () => {
  it('is taken in float32 and rounded once', async () => {
    const { groups } = createInMemoryGroup(ranksOf(3));
    // In bfloat16, 1 + 1/256 would round to 1 twice; in float32 it is 1 + 1/128.
    const sums = await Promise.all(
      groups.map((group) => group.allReduce(encodeBfloat16(Float32Array.of(group.rank === 0 ? 1 : 1 / 256)), 'sum')),
    );
    for (const sum of sums) expect([...decodeBfloat16(sum)]).toEqual([1 + 1 / 128]);
  });

  it('is the only supported operation', async () => {
    const { groups } = createInMemoryGroup(ranksOf(2));
    const mean = groups[0].allReduce(encodeBfloat16(Float32Array.of(1)), 'mean');
    await expect(mean).rejects.toThrow('there is no mean of them');
  });
});

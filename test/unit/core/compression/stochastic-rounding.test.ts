import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  packBfloat16,
  packedLength,
  roundingKey,
  unpackBfloat16,
} from '../../../../core/compression/stochastic-rounding.ts';
import { decodeBfloat16, encodeBfloat16 } from '../../../../core/protocol/wire/arrays.ts';

const bitsOf = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0];
const ofBits = (...bits: number[]): Float32Array => new Float32Array(Uint32Array.from(bits).buffer);
const floats = fc.array(fc.integer({ min: 0, max: 0xffffffff }), { maxLength: 40 }).map((bits) => ofBits(...bits));
const keys = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

function rounded(values: Float32Array, key: number): Float32Array {
  const words = new Int32Array(packedLength(values.length));
  packBfloat16(values, key, words);
  const result = new Float32Array(values.length);
  unpackBfloat16(words, result);
  return result;
}

describe('stochastic rounding to bfloat16', () => {
  it('packs value 2j in the lower half of a word and value 2j + 1 in the upper one: 1 is 0x3f80, -2 is 0xc000', () => {
    const words = new Int32Array(2);
    packBfloat16(Float32Array.of(1, -2, 1), 7, words);
    expect([...new Uint32Array(words.buffer)]).toEqual([0xc0003f80, 0x00003f80]);
  });

  it('leaves values with an upper half alone unchanged: bfloat16, zeros, infinities, subnormal ones', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), keys, (halves, key) => {
        const values = ofBits(...halves.map((half) => (half << 16) >>> 0)).map((value) =>
          Number.isNaN(value) ? 0 : value,
        );
        expect(rounded(values, key)).toEqual(values);
      }),
    );
  });

  it('gives one of the two neighbours, never the other sign; NaN stays NaN', () => {
    fc.assert(
      fc.property(floats, keys, (values, key) => {
        const results = [...rounded(values, key)];
        expect(results.map(Number.isNaN)).toEqual([...values].map(Number.isNaN));
        const wrong = results.filter((result, i) => {
          const below = (bitsOf(values[i]) & 0xffff0000) >>> 0;
          const above = below === bitsOf(values[i]) ? below : below + 0x10000;
          return !Number.isNaN(result) && ![below, above].includes(bitsOf(result));
        });
        expect(wrong).toEqual([]);
      }),
    );
  });

  it('keeps a NaN whose payload lies in the half that is lost', () => {
    expect(rounded(ofBits(0x7f800001, 0xff80ffff), 1)[0]).toBeNaN();
    expect(rounded(ofBits(0x7f800001, 0xff80ffff), 1)[1]).toBeNaN();
  });

  it('rounds up as often as a value is near: a quarter of 100,000 for 1 + 1/4 of 1/128, a subnormal, and a negative one', () => {
    for (const bits of [0x3f804000, 0x00004000, 0xbf804000]) {
      const results = rounded(new Float32Array(100_000).fill(ofBits(bits)[0]), 123);
      const share = results.filter((value) => bitsOf(value) !== (bits & 0xffff0000) >>> 0).length / results.length;
      // Five standard deviations of the share are 0.007.
      expect(Math.abs(share - 0.25)).toBeLessThan(0.007);
    }
  });

  it('lets small updates add up, which rounding to nearest loses', () => {
    let nearest = Float32Array.of(1);
    let drawn = new Float32Array(2000).fill(1);
    for (let step = 1; step <= 100; step++) {
      // A tenth of what nearest needs to leave 1.
      const grow = (value: number) => value + 1 / 2560;
      nearest = decodeBfloat16(encodeBfloat16(nearest.map(grow)));
      drawn = rounded(drawn.map(grow), roundingKey(1, 'sum', step)) as typeof drawn;
    }
    expect(nearest[0]).toBe(1);
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    expect(Math.abs(mean - (1 + 100 / 2560))).toBeLessThan(0.002);
  });

  it('draws other numbers for each array and each rounding, and the same ones again', () => {
    const values = new Float32Array(64).fill(1 + 1 / 256);
    const first = rounded(values, roundingKey(3, 'mean.0', 1));
    expect(rounded(values, roundingKey(3, 'mean.0', 1))).toEqual(first);
    for (const key of [roundingKey(3, 'mean.0', 2), roundingKey(3, 'square.0', 1), roundingKey(4, 'mean.0', 1)]) {
      expect(rounded(values, key)).not.toEqual(first);
    }
  });
});

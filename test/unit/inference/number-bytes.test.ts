import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mostNumberBytes, writeNumber } from '../../../workers/inference/write-predictions.ts';

function written(value: number): string {
  const target = Buffer.alloc(mostNumberBytes + 2, '#');
  const end = writeNumber(target, 1, value);
  expect(end - 1).toBeLessThanOrEqual(mostNumberBytes);
  expect(target.toString('latin1', 0, 1) + target.toString('latin1', end, end + 1)).toBe('##');
  return target.toString('latin1', 1, end);
}

/** By JavaScript's own rounding to nine digits. */
const expected = (value: number): string => String(Number.isInteger(value) ? value : Number(value.toPrecision(9)));

it.each([
  [0, '0'],
  [-0, '0'],
  [1, '1'],
  [-12, '-12'],
  [0.1, '0.1'],
  [-0.01, '-0.01'],
  [0.30000000000000004, '0.3'],
  [1234.5678901, '1234.56789'],
  [999999999.7, '1000000000'],
  [0.09999999999999, '0.1'],
  [123456789.5, '123456790'],
  [1e-6, '0.000001'],
  [1.5e-7, '1.5e-7'],
  [4294967295, '4294967295'],
  [1e21, '1e+21'],
  [Math.fround(0.1), '0.100000001'],
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
])('writes %d as %s', (value, text) => {
  expect(written(value)).toBe(text);
});

it('writes as JavaScript rounds to nine digits', () => {
  const decimals = fc.tuple(fc.integer({ min: -2e9, max: 2e9 }), fc.integer({ min: -3, max: 16 }));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.double({ noNaN: true }),
        fc.float({ noNaN: true }),
        decimals.map(([digits, places]) => digits / 10 ** places),
        decimals.map(([digits, places]) => (digits + 0.5) / 10 ** places),
      ),
      (value) => {
        expect(written(value)).toBe(expected(value));
      },
    ),
    { seed: 20_26, numRuns: 3000 },
  );
});

it('tells float32 values apart', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Math.fround(Number(written(value))) - value).toBe(0);
    }),
    { seed: 20_26, numRuns: 1000 },
  );
});

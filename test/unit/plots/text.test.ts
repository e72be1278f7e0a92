import { describe, expect, it } from 'vitest';
import { exponentOf, formatSignificant } from '../../../workers/plots/number-format.ts';
import { coordinate, escapeXml, textElement, textWidth } from '../../../workers/plots/text.ts';

describe('formatSignificant', () => {
  const cases: [value: number, expected: string][] = [
    [0.42134, '0.4213'],
    [1, '1.000'],
    [-0.5, '−0.5000'],
    [12.3456, '12.35'],
    [1234.56, '1235'],
    [12_345.6, '12346'],
    [0, '0.000'],
    [0.000_123_46, '0.0001235'],
    [0.000_003_1, '3.100×10⁻⁶'],
    [-2_500_000, '−2.500×10⁶'],
    [NaN, 'NaN'],
    [Infinity, '∞'],
    [-Infinity, '−∞'],
  ];
  it.each(cases)('formats %d with 4 digits as %s', (value, expected) => {
    expect(formatSignificant(value, 4)).toBe(expected);
  });
});

it('exponentOf is exact at powers of ten, where log10 is not', () => {
  expect([1000, 999.999, 0.001, 1e-7, -20, 0].map(exponentOf)).toEqual([3, 2, -3, -7, 1, 0]);
});

describe('text', () => {
  it('escapes markup and quotes, and replaces characters that XML forbids', () => {
    expect(escapeXml('a < b & "c" > d')).toBe('a &lt; b &amp; &quot;c&quot; &gt; d');
    expect(escapeXml('\u0000x\u001b[1m\ud800\uffff')).toBe('�x�[1m��');
    expect(escapeXml('μ ± σ 😀\n')).toBe('μ ± σ 😀\n');
  });

  it('is as wide as its widest line in DejaVu Sans', () => {
    // Advance widths from the font's hmtx table, in units of 1/2048 em: "0" 1303, "." 651, "i" 569.
    expect(textWidth('0.0', 10)).toBeCloseTo((10 * (1303 + 651 + 1303)) / 2048, 1);
    expect(textWidth('i\n000\nii', 10)).toBeCloseTo((10 * 3 * 1303) / 2048, 1);
    expect(textWidth('', 10)).toBe(0);
  });

  it('places further lines below the first', () => {
    expect(textElement(5, 20, 'a\nb', { size: 10 })).toBe(
      '<text font-size="10"><tspan x="5" y="20">a</tspan><tspan x="5" y="32.5">b</tspan></text>',
    );
    expect(textElement(5, 20, '', { size: 10, bold: true, anchor: 'end', color: 'red', rotate: -90 })).toBe(
      '<text font-size="10" text-anchor="end" font-weight="bold" fill="red" transform="rotate(-90 5 20)">' +
        '<tspan x="5" y="20"></tspan></text>',
    );
  });

  it('rounds coordinates to two decimals and limits their magnitude', () => {
    expect([1.005, 1 / 3, -0.001, 12, 1e30, -Infinity].map(coordinate)).toEqual([
      '1',
      '0.33',
      '0',
      '12',
      '1000000',
      '-1000000',
    ]);
  });
});

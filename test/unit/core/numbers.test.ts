import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMetric,
  formatShare,
  formatShort,
  formatValue,
  metricLabel,
} from '../../../core/text/numbers.ts';

describe('formatMetric', () => {
  it.each([
    [0.41234, '0.4123'],
    [0.4, '0.4000'],
    [12.3456, '12.35'],
    [0, '0.000'],
    [1e-7, '1.000e-7'],
    [-2.30259, '-2.303'],
    [Number.NaN, '– (NaN)'],
    [-Infinity, '−∞'],
  ])('formats %d with four significant digits: %s', (value, text) => {
    expect(formatMetric(value)).toBe(text);
  });
});

describe('formatCount', () => {
  it.each([
    [0, '0'],
    [0.9394, '0.939'],
    [7, '7'],
    [999, '999'],
    [999.9, '1k'],
    [1234, '1.23k'],
    [1200, '1.2k'],
    [12_345, '12.3k'],
    [999_900, '1M'],
    [4_560_000, '4.56M'],
    [2e15, '2000T'],
    [Number.NaN, '–'],
  ])('formats %d with three digits and an SI prefix: %s', (value, text) => {
    expect(formatCount(value)).toBe(text);
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1_023, '1023 B'],
    [999, '999 B'],
    [1_000, '1000 B'],
    [1_024, '1 KiB'],
    [1_234_567, '1.18 MiB'],
    [5e10, '46.6 GiB'],
    [1_536, '1.5 KiB'],
    [1.234 * 1024 ** 2, '1.23 MiB'],
    [1000 * 1024 ** 2, '1000 MiB'],
    [2 ** 50 - 1, '1024 TiB'],
    [123_456_789, '118 MiB'],
    [1_073_741_824, '1 GiB'],
    [2 ** 70, '1048576 PiB'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

describe('formatValue, formatShort and formatDuration', () => {
  it('have 4 significant digits, and whole numbers in full', () => {
    expect([0.41012, 12_340, 3, 123_456.7, 1.2345e-6, -0.5, NaN, -Infinity].map(formatValue)).toEqual([
      '0.4101',
      '12,340',
      '3',
      '123,457',
      '1.234e-6',
      '-0.5000',
      '–',
      '−∞',
    ]);
  });

  it('are short on axes', () => {
    expect([0.25, 1500, 2e7, 1e-5, 0, -3000].map(formatShort)).toEqual(['0.25', '1.5k', '20M', '1e-5', '0', '-3k']);
    expect([1e15, 2.5e30, -1e20].map(formatShort)).toEqual(['1e15', '2.5e30', '-1e20']);
  });

  it('of time read like a clock', () => {
    expect([4.5, 65, 3840, 93_600].map((seconds) => formatDuration(seconds))).toEqual([
      '4.5 s',
      '1 m 05 s',
      '1 h 04 m',
      '1 d 02 h',
    ]);
  });
});

describe('formatDuration', () => {
  it('omits zeros or keeps them, as requested', () => {
    expect([180, 3600, 172_800].map((seconds) => formatDuration(seconds))).toEqual(['3 m', '1 h', '2 d']);
    expect([180, 3600, 172_800].map((seconds) => formatDuration(seconds, true))).toEqual([
      '3 m 00 s',
      '1 h 00 m',
      '2 d 00 h',
    ]);
  });
});

it.each([
  ['val/ens_nll', 'ens NLL'],
  ['val/member_3_mse', 'member 3 MSE'],
  ['test/avg_member_mse', 'avg member MSE'],
  ['val/ambiguity', 'Diversity gain'],
])('gives %s a readable name', (metric, label) => {
  expect(metricLabel(metric)).toBe(label);
});

it('rounds shares to whole percent', () => {
  expect([0, 0.424, 0.425, 1].map(formatShare)).toEqual(['0 %', '42 %', '43 %', '100 %']);
});

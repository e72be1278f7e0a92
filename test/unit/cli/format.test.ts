import { describe, expect, it } from 'vitest';
import { countEpoch, formatDuration, formatMetric, metricLabel } from '../../../src-main/cli/format.ts';
import { formatCount } from '../../../core/text/numbers.ts';

describe('formatMetric', () => {
  it.each([
    [0.41234, '0.4123'],
    [0.4, '0.4000'],
    [12.3456, '12.35'],
    [0, '0.000'],
    [-2.30259, '-2.303'],
    [Number.NaN, 'NaN'],
    [-Infinity, '-Infinity'],
  ])('gives %d four significant digits: %s', (value, text) => {
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
    [Number.NaN, 'NaN'],
  ])('gives %d three digits and an SI prefix: %s', (value, text) => {
    expect(formatCount(value)).toBe(text);
  });
});

describe('formatDuration', () => {
  it.each([
    [400, '0 s'],
    [12_000, '12 s'],
    [59_600, '1 m 00 s'],
    [192_000, '3 m 12 s'],
    [3_599_000, '59 m 59 s'],
    [3_840_000, '1 h 04 m'],
    [183_600_000, '2 d 03 h'],
  ])('shows %d ms in its two largest units: %s', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});

describe('names', () => {
  it('reads a metric as a person would say it, and counts epochs from 1', () => {
    expect(metricLabel('val/ens_nll')).toBe('ens NLL');
    expect(metricLabel('test/avg_member_mse')).toBe('avg member MSE');
    expect(countEpoch(0)).toBe(1);
  });
});

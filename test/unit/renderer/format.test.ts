import { expect, it } from 'vitest';
import { formatBytes, formatMetric, formatTime, metricLabel } from '../../../src-renderer/text/format.ts';

it.each([
  [0.41007, '0.4101'],
  [12.3, '12.30'],
  [1e-7, '1.000e-7'],
  [Number.NaN, 'NaN'],
  [-Infinity, '-Infinity'],
])('shows %d with four significant digits', (value, text) => {
  expect(formatMetric(value)).toBe(text);
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [1.234 * 1024 ** 2, '1.23 MiB'],
  [1000 * 1024 ** 2, '1000 MiB'],
  [68 * 1024 ** 3, '68 GiB'],
])('spells %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  ['val/ens_nll', 'ens NLL'],
  ['val/member_3_mse', 'member 3 MSE'],
])('names %s for people', (metric, label) => {
  expect(metricLabel(metric)).toBe(label);
});

it('leaves out the year where it is this one', () => {
  const now = new Date('2026-11-21T12:00:00');
  expect(formatTime('2026-03-01T12:00:00', now)).not.toContain('2026');
  expect(formatTime('2025-03-01T12:00:00', now)).toContain('2025');
});

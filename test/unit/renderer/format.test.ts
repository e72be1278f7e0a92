import { expect, it } from 'vitest';
import { formatMetric, metricLabel } from '../../../src-renderer/format.ts';

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
  ['val/ens_nll', 'ens NLL'],
  ['val/member_3_mse', 'member 3 MSE'],
])('names %s for people', (metric, label) => {
  expect(metricLabel(metric)).toBe(label);
});

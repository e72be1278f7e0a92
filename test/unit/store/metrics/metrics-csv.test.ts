import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkMetricName,
  formatHeader,
  formatNumber,
  formatRow,
  parseHeader,
  parseNumber,
} from '../../../../src-main/store/metrics/metrics-csv.ts';

describe('the format of metrics.csv', () => {
  it('has the columns epoch and step, then the metrics', () => {
    expect(formatHeader(['loss', 'val/nll'])).toBe('epoch,step,loss,val/nll\n');
    expect(parseHeader('epoch,step,loss,val/nll', 'metrics.csv')).toEqual(['loss', 'val/nll']);
    expect(parseHeader('epoch,step', 'metrics.csv')).toEqual([]);
    expect(formatRow(0, 12, ['1', '', 'NaN'])).toBe('0,12,1,,NaN\n');
  });

  it.each(['', 'epoch', 'epoch,loss', 'loss,step', 'step,epoch,loss', 'time,epoch,step'])(
    'refuses the header "%s"',
    (header) => {
      expect(() => parseHeader(header, 'metrics.csv')).toThrow(`metrics.csv begins with "${header}"`);
    },
  );

  it.each(['', 'a,b', 'a"b', 'a\nb', 'a\rb', 'epoch', 'step'])('refuses the metric %j', (name) => {
    expect(() => checkMetricName(name)).toThrow('cannot name a metric');
  });

  it('accepts any other metric', () => {
    for (const name of ['a', 'val/nll', 'epochs', 'a b', 'Straße']) expect(() => checkMetricName(name)).not.toThrow();
  });

  it('reads numbers back exactly, and rejects text that is no number', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parseNumber(formatNumber(value))).toBe(value);
      }),
      { seed: 1 },
    );
    expect(['', 'x', '1e', 'nan'].map(parseNumber)).toEqual([null, null, null, null]);
    expect([-0, Infinity, -Infinity, NaN].map(formatNumber)).toEqual(['-0', 'Infinity', '-Infinity', 'NaN']);
  });
});

import { describe, expect, it } from 'vitest';
import { countEpoch } from '../../../core/text/numbers.ts';
import { formatDuration } from '../../../src-main/cli/progress.ts';

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

describe('countEpoch', () => {
  it('counts epochs from 1', () => {
    expect(countEpoch(0)).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { loadBars } from '../../../src-renderer/charts/figures/bars.ts';

const time = Float64Array.of(0, 1, 2, 4, 5, 6);
const load = Float64Array.of(NaN, 0.5, 1, 0.25, NaN, 0.75);
const whole = { from: 0, to: 6 };

describe('loadBars', () => {
  it('makes a bar of each load, over the time since the previous one', () => {
    expect(loadBars(time, load, whole, 100)).toEqual([
      { from: 0, to: 1, load: 0.5 },
      { from: 1, to: 2, load: 1 },
      { from: 2, to: 4, load: 0.25 },
      { from: 5, to: 6, load: 0.75 },
    ]);
  });

  it('merges neighbours into their mean over time, but not across unknown loads', () => {
    // (0.5·1 + 1·1) / 2; then (0.25·2) / 2, because the next is unknown.
    expect(loadBars(time, load, whole, 3)).toEqual([
      { from: 0, to: 2, load: 0.75 },
      { from: 2, to: 4, load: 0.25 },
      { from: 5, to: 6, load: 0.75 },
    ]);
    expect(loadBars(time, load, whole, 1)).toEqual([
      { from: 0, to: 4, load: (0.5 + 1 + 0.5) / 4 },
      { from: 5, to: 6, load: 0.75 },
    ]);
  });

  it('covers the requested range, including the edges', () => {
    expect(loadBars(time, load, { from: 1.5, to: 3 }, 100)).toEqual([
      { from: 1, to: 2, load: 1 },
      { from: 2, to: 4, load: 0.25 },
    ]);
    expect(loadBars(new Float64Array(), new Float64Array(), whole, 10)).toEqual([]);
  });
});

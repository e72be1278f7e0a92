import { describe, expect, it } from 'vitest';
import type { RankView } from '../../../core/protocol/pages/run-views.ts';
import type { MetricColumns } from '../../../src-renderer/stores/metric-columns.ts';
import { remainingMs } from '../../../src-renderer/views/run/live/run-times.ts';

function rank(fields: Partial<RankView>): RankView {
  return {
    rank: 0,
    device: 'cpu:0',
    deviceName: 'core',
    wave: 0,
    seed: 42,
    pid: 1,
    state: 'training',
    epoch: 0,
    step: 0,
    loss: null,
    samplesPerSecond: null,
    memoryBytes: null,
    ...fields,
  };
}

function viewOf(ranks: RankView[], totalSteps: number | null = 1000) {
  return { ranks, totalSteps };
}

/** Losses at these times, ten steps apart. */
function losses(timesMs: number[]): MetricColumns {
  const step = Int32Array.from(timesMs, (_, index) => 10 * index);
  const value = new Float64Array(timesMs.length);
  const timeMs = Float64Array.from(timesMs);
  const length = timesMs.length;
  return {
    name: 'train/member_0_loss',
    epoch: step,
    step,
    timeMs,
    value,
    length,
    version: 0,
    isThinned: false,
    stepsPerPoint: 0,
  };
}

describe('the remaining training time', () => {
  it('follows the slowest training rank', () => {
    const view = viewOf([
      rank({ rank: 0, step: 700 }),
      rank({ rank: 1, step: 600 }),
      rank({ rank: 2, state: 'standing-by' }),
    ]);
    const asked: number[] = [];
    const found = remainingMs(view, (rank) => {
      asked.push(rank);
      return losses([0, 1000, 2000]);
    });
    expect(found).toBe(400 * 100);
    expect(asked).toEqual([1]);
  });

  it('uses the speed of the last minute', () => {
    const view = viewOf([rank({ step: 900 })]);
    expect(remainingMs(view, () => losses([0, 100_000, 110_000, 120_000]))).toBe(100 * 1000);
  });

  it('includes the waves to come', () => {
    const view = viewOf([rank({ step: 500 }), rank({ rank: 1, wave: 1, state: 'starting' })]);
    expect(remainingMs(view, () => losses([0, 1000]))).toBe(1500 * 100);
  });

  it('is unknown until the speed is known', () => {
    const view = viewOf([rank({ step: 500 })]);
    expect(remainingMs(view, () => undefined)).toBeNull();
    expect(remainingMs(view, () => losses([0, 500]))).toBeNull();
    expect(remainingMs(view, () => losses([NaN, NaN, 3000]))).toBeNull();
    expect(remainingMs(viewOf([rank({})], null), () => losses([0, 1000]))).toBeNull();
    expect(remainingMs(viewOf([rank({ state: 'exited' })]), () => losses([0, 1000]))).toBeNull();
  });
});

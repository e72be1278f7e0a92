import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { rateScale } from '../../../workers/training/live-settings.ts';

const scaleAt = (members: number, strategy: object, step: number): number => {
  const config = runConfigSchema.parse({ members, strategy });
  return rateScale(config, step);
};

describe('rateScale', () => {
  it('is 1 by default, and for ranks that train a model each', () => {
    expect(scaleAt(8, { kind: 'data-parallel' }, 0)).toBe(1);
    expect(scaleAt(8, { kind: 'independent' }, 100)).toBe(1);
  });

  it('is the number of ranks, times the accumulated batches', () => {
    expect(scaleAt(8, { kind: 'data-parallel', learningRateScaling: 'linear' }, 0)).toBe(8);
    expect(scaleAt(3, { kind: 'sharded', learningRateScaling: 'linear', accumulate: 2 }, 7)).toBe(6);
  });

  it('grows in equal steps during the warm-up', () => {
    const strategy = { kind: 'data-parallel', learningRateScaling: 'linear', scalingWarmupSteps: 4 };
    expect([0, 1, 2, 3, 4, 5].map((step) => scaleAt(5, strategy, step))).toEqual([2, 3, 4, 5, 5, 5]);
  });
});

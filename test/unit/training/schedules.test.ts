import { describe, expect, it } from 'vitest';
import { learningRateAt } from '../../../workers/training/schedules.ts';

const at = (step: number, totalSteps = 10, epoch = 0) => ({ epoch, step, totalSteps });

describe('learningRateAt', () => {
  it('constant is the base rate throughout', () => {
    expect(learningRateAt({ kind: 'constant' }, 0.1, at(7))).toBe(0.1);
  });

  it('cosine falls from the base to the floor: base at t = 0, their mean at t = 1/2', () => {
    const schedule = { kind: 'cosine', warmupSteps: 0, floorFraction: 0.2 } as const;
    expect(learningRateAt(schedule, 1, at(0, 8))).toBe(1);
    // t = 1/4: 0.2 + 0.8 (1 + cos(pi/4)) / 2 = 0.2 + 0.4 (1 + 0.70710678...)
    expect(learningRateAt(schedule, 1, at(2, 8))).toBeCloseTo(0.8828427124746191, 15);
    expect(learningRateAt(schedule, 1, at(4, 8))).toBeCloseTo(0.6, 15);
    expect(learningRateAt(schedule, 1, at(8, 8))).toBeCloseTo(0.2, 15);
  });

  it('cosine warms up linearly and reaches the base rate with the last warm-up step', () => {
    const schedule = { kind: 'cosine', warmupSteps: 4, floorFraction: 0 } as const;
    const rates = [0, 1, 2, 3, 4].map((step) => learningRateAt(schedule, 0.8, at(step, 12)));
    expect(rates).toEqual([0.2, 0.4, expect.closeTo(0.6, 12), 0.8, 0.8]);
    expect(learningRateAt(schedule, 0.8, at(8, 12))).toBeCloseTo(0.4, 15);
  });

  it('cosine stays at its floor beyond the planned steps, and with a warm-up that is all there is', () => {
    const schedule = { kind: 'cosine', warmupSteps: 10, floorFraction: 0.5 } as const;
    expect(learningRateAt(schedule, 1, at(10, 10))).toBe(1);
    expect(learningRateAt(schedule, 1, at(25, 10))).toBeCloseTo(0.5, 15);
  });

  it('step multiplies by its factor at every so many epochs', () => {
    const schedule = { kind: 'step', everyEpochs: 2, factor: 0.5 } as const;
    const rates = [0, 1, 2, 3, 4, 6].map((epoch) => learningRateAt(schedule, 0.8, at(0, 10, epoch)));
    expect(rates).toEqual([0.8, 0.8, 0.4, 0.4, 0.2, 0.1]);
  });
});

import { describe, expect, it } from 'vitest';
import { scheduleSchema } from '../../../core/protocol/run/schedule-config.ts';
import { settingsAt } from '../../../workers/optimizers/schedules.ts';
import { readGolden } from '../../golden/read-golden.ts';

const at = (step: number, totalSteps = 10, epoch = 0) => ({ epoch, step, totalSteps });
const rateAt = (...of: Parameters<typeof settingsAt>): number => settingsAt(...of).learningRate;

describe('settingsAt', () => {
  it('constant stays at the base rate', () => {
    expect(rateAt({ kind: 'constant', warmupSteps: 0 }, 0.1, at(7))).toBe(0.1);
  });

  it('cosine falls from the base to the floor: base at t = 0, their mean at t = 1/2', () => {
    const schedule = { kind: 'cosine', warmupSteps: 0, floorFraction: 0.2 } as const;
    expect(rateAt(schedule, 1, at(0, 8))).toBe(1);
    // t = 1/4: 0.2 + 0.8 (1 + cos(pi/4)) / 2 = 0.2 + 0.4 (1 + 0.70710678...)
    expect(rateAt(schedule, 1, at(2, 8))).toBeCloseTo(0.8828427124746191, 15);
    expect(rateAt(schedule, 1, at(4, 8))).toBeCloseTo(0.6, 15);
    expect(rateAt(schedule, 1, at(8, 8))).toBeCloseTo(0.2, 15);
  });

  it('cosine warms up linearly and reaches the base rate with the last warm-up step', () => {
    const schedule = { kind: 'cosine', warmupSteps: 4, floorFraction: 0 } as const;
    const rates = [0, 1, 2, 3, 4].map((step) => rateAt(schedule, 0.8, at(step, 12)));
    expect(rates).toEqual([0.2, 0.4, expect.closeTo(0.6, 12), 0.8, 0.8]);
    expect(rateAt(schedule, 0.8, at(8, 12))).toBeCloseTo(0.4, 15);
  });

  it('cosine stays at its floor after the planned steps, and after a warm-up that fills the schedule', () => {
    const schedule = { kind: 'cosine', warmupSteps: 10, floorFraction: 0.5 } as const;
    expect(rateAt(schedule, 1, at(10, 10))).toBe(1);
    expect(rateAt(schedule, 1, at(25, 10))).toBeCloseTo(0.5, 15);
  });

  it('step multiplies by its factor at its interval of epochs', () => {
    const schedule = { kind: 'step', warmupSteps: 0, everyEpochs: 2, factor: 0.5 } as const;
    const rates = [0, 1, 2, 3, 4, 6].map((epoch) => rateAt(schedule, 0.8, at(0, 10, epoch)));
    expect(rates).toEqual([0.8, 0.8, 0.4, 0.4, 0.2, 0.1]);
  });
});

/** Results of `torch.optim.lr_scheduler.OneCycleLR`. */
interface OneCycleGolden {
  cases: { options: Record<string, number | string | boolean>; lr: number[]; momentum: number[] }[];
}

const oneCycle = scheduleSchema.parse({ kind: 'one-cycle' });

/** The schedule with PyTorch's options. */
function scheduleOf(options: Record<string, number | string | boolean>) {
  return scheduleSchema.parse({
    kind: 'one-cycle',
    risingFraction: options.pct_start,
    anneal: options.anneal_strategy === 'linear' ? 'linear' : 'cosine',
    startDivisor: options.div_factor,
    finalDivisor: options.final_div_factor,
    threePhase: options.three_phase,
    lowMomentum: options.base_momentum,
    highMomentum: options.max_momentum,
  });
}

describe('one-cycle', () => {
  it("equals PyTorch's", () => {
    const { cases } = readGolden('one-cycle/one-cycle.json') as OneCycleGolden;
    expect(cases).toHaveLength(6);
    for (const { options, lr, momentum } of cases) {
      const schedule = scheduleOf(options);
      lr.forEach((rate, step) => {
        const settings = settingsAt(schedule, Number(options.max_lr), at(step, lr.length));
        expect(settings.learningRate).toBeCloseTo(rate, 12);
        expect(settings.momentum).toBeCloseTo(momentum[step], 12);
      });
    }
  });

  it('starts at base/25, peaks at the base rate with the lowest momentum, and ends at base/250,000', () => {
    expect(settingsAt(oneCycle, 0.1, at(0, 100))).toEqual({ learningRate: expect.closeTo(0.004, 12), momentum: 0.95 });
    expect(settingsAt(oneCycle, 0.1, at(29, 100))).toEqual({ learningRate: expect.closeTo(0.1, 12), momentum: 0.85 });
    const last = settingsAt(oneCycle, 0.1, at(99, 100));
    expect(last.learningRate).toBeCloseTo(4e-7, 12);
    expect(last.momentum).toBeCloseTo(0.95, 12);
    expect(settingsAt(oneCycle, 0.1, at(150, 100))).toEqual({ learningRate: expect.closeTo(4e-7, 12), momentum: 0.95 });
  });

  it('leaves momentum unchanged on request, and handles a run of one step', () => {
    expect(settingsAt({ ...scheduleOf({}), cycleMomentum: false } as typeof oneCycle, 0.1, at(29, 100))).toEqual({
      learningRate: expect.closeTo(0.1, 12),
    });
    expect(rateAt(oneCycle, 0.1, at(0, 1))).toBeGreaterThan(0);
  });
});

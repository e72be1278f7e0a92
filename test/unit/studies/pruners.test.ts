import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bracketsOf, nextWork, type Work } from '../../../core/studies/pruners/next-work.ts';
import { type Pruner, prunerSchema, type RungPruner } from '../../../core/studies/pruners/settings.ts';
import { chanceOfPositive, shouldStop } from '../../../core/studies/pruners/stop.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { wilcoxon } from './recorded.ts';

/** A trial with reports at the steps from 0. */
function reporting(number: number, values: readonly number[], state: Trial['state'] = 'complete'): Trial {
  const reports = values.map((value, step) => ({ step, value }));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { number, state, values: {}, objectives: state === 'complete' ? [mean] : null, reports };
}

describe("Wilcoxon's test", () => {
  it('agrees with SciPy, with ties and zeros', () => {
    expect(wilcoxon.length).toBeGreaterThan(30);
    for (const { differences, pValue } of wilcoxon) {
      expect(chanceOfPositive(differences), JSON.stringify(differences)).toBeCloseTo(pValue, 12);
    }
  });

  it('counts the signs of three differences by hand', () => {
    expect(chanceOfPositive([1, 2, 3])).toBe(1 / 8);
    expect(chanceOfPositive([-1, 2, 3])).toBe(2 / 8);
    expect(chanceOfPositive([-1, -2, -3])).toBe(1);
    expect(chanceOfPositive([])).toBeNaN();
  });
});

describe('the median pruner', () => {
  const pruner = prunerSchema.parse({ kind: 'median', startupTrials: 3 });
  const others = [reporting(0, [5, 3, 1]), reporting(1, [6, 4, 2]), reporting(2, [7, 5, 3])];

  it('stops a trial whose best value is worse than the median at its step', () => {
    expect(shouldStop(pruner, reporting(3, [9, 4.1], 'running'), others, 'minimize')).toBe(true);
    expect(shouldStop(pruner, reporting(3, [9, 4], 'running'), others, 'minimize')).toBe(false);
    expect(shouldStop(pruner, reporting(3, [3.5, 9], 'running'), others, 'minimize')).toBe(false);
    expect(shouldStop(pruner, reporting(3, [9, 4.1], 'running'), others, 'maximize')).toBe(false);
    expect(shouldStop(pruner, reporting(3, [1, 3.9], 'running'), others, 'maximize')).toBe(true);
  });

  it('waits for enough trials, steps and reports', () => {
    const bad = reporting(3, [99, 99], 'running');
    expect(shouldStop(pruner, bad, others.slice(1), 'minimize')).toBe(false);
    expect(
      shouldStop(prunerSchema.parse({ kind: 'median', startupTrials: 1, warmupSteps: 2 }), bad, others, 'minimize'),
    ).toBe(false);
    expect(
      shouldStop(prunerSchema.parse({ kind: 'median', startupTrials: 1, minimumTrials: 4 }), bad, others, 'minimize'),
    ).toBe(false);
    expect(
      shouldStop(prunerSchema.parse({ kind: 'median', startupTrials: 1, intervalSteps: 2 }), bad, others, 'minimize'),
    ).toBe(false);
    expect(shouldStop(pruner, reporting(3, [], 'running'), others, 'minimize')).toBe(false);
  });

  it('stops a trial that reports only NaN, and ignores NaN of others', () => {
    expect(shouldStop(pruner, reporting(3, [NaN, NaN], 'running'), others, 'minimize')).toBe(true);
    const broken = others.map((trial) => ({ ...trial, reports: [{ step: 1, value: NaN }] }));
    expect(shouldStop(pruner, reporting(3, [1, 2], 'running'), broken, 'minimize')).toBe(false);
  });
});

describe('the Wilcoxon pruner', () => {
  const pruner = prunerSchema.parse({ kind: 'wilcoxon' });
  const best = reporting(0, [1, 2, 3, 4, 5]);

  it('stops a trial that is worse on each of four splits, p = 1/16', () => {
    const worse = reporting(1, [2.1, 3.2, 4.3, 5.4], 'running');
    expect(shouldStop(pruner, worse, [best, reporting(2, [9, 9, 9, 9, 9])], 'minimize')).toBe(true);
    expect(shouldStop(prunerSchema.parse({ kind: 'wilcoxon', threshold: 0.05 }), worse, [best], 'minimize')).toBe(
      false,
    );
    // Three splits give p = 1/8 at least.
    expect(shouldStop(pruner, reporting(1, [9, 9.1, 9.2], 'running'), [best], 'minimize')).toBe(false);
  });

  it('compares with the best trial, wherever it stands', () => {
    const between = reporting(2, [2.1, 3.2, 4.3, 5.4], 'running');
    expect(shouldStop(pruner, between, [reporting(0, [9, 9, 9, 9, 9]), { ...best, number: 1 }], 'minimize')).toBe(true);
  });

  it('keeps a trial whose mean is no worse, or without a comparison', () => {
    // Worse on each split so far, which are the easy ones.
    expect(shouldStop(pruner, reporting(1, [1.1, 2.2, 3.3, 4.4], 'running'), [best], 'minimize')).toBe(false);
    expect(shouldStop(pruner, reporting(1, [9, 9, 9, 9], 'running'), [], 'minimize')).toBe(false);
    expect(shouldStop(pruner, reporting(1, [9, 9, 9, NaN], 'running'), [best], 'minimize')).toBe(false);
  });
});

type Loss = (number: number, step: number) => number;

/**
 * Runs a study with rungs on one device, or on several whose work ends in turn; returns trials and how far each was
 * trained.
 */
function simulate(pruner: RungPruner, count: number, loss: Loss, devices = 1): { trials: Trial[]; log: Work[] } {
  const trials: Trial[] = [];
  const log: Work[] = [];
  const busy: { number: number; untilStep: number }[] = [];
  for (;;) {
    const work = busy.length < devices ? nextWork(pruner, trials, 'minimize') : { kind: 'wait' as const };
    const isOver = work.kind === 'begin' && trials.length >= count;
    if (work.kind !== 'wait' && !isOver) {
      log.push(work);
      busy.push(work);
      if (work.kind === 'begin')
        trials.push({ number: work.number, state: 'running', values: {}, objectives: null, reports: [] });
      else trials[work.number] = { ...trials[work.number], state: 'running' };
      continue;
    }
    const done = busy.shift();
    if (done === undefined) return { trials, log };
    const value = loss(done.number, done.untilStep);
    const whole = done.untilStep === pruner.maximumResource;
    const before = trials[done.number];
    trials[done.number] = {
      ...before,
      state: whole ? 'complete' : 'paused',
      objectives: whole ? [value] : null,
      reports: [...before.reports, { step: done.untilStep, value }],
    };
  }
}

function rungPruner(settings: Record<string, unknown>): RungPruner {
  const pruner: Pruner = prunerSchema.parse(settings);
  if (!('maximumResource' in pruner)) throw new TypeError(`${pruner.kind} has no rungs`);
  return pruner;
}

const reachedSteps = (trials: readonly Trial[]): number[] =>
  trials.map(({ reports }) => Math.max(...reports.map(({ step }) => step)));

describe('rungs', () => {
  // Li et al., 2018, table 1: R = 81, η = 3.
  it('has the brackets of the Hyperband paper', () => {
    const brackets = bracketsOf(rungPruner({ kind: 'hyperband', maximumResource: 81 }));
    expect(brackets).toEqual([
      { trials: 81, rungs: [1, 3, 9, 27, 81] },
      { trials: 34, rungs: [3, 9, 27, 81] },
      { trials: 15, rungs: [9, 27, 81] },
      { trials: 8, rungs: [27, 81] },
      { trials: 5, rungs: [81] },
    ]);
  });

  it.each([1, 4])('halves synchronously on %d devices: 9, 3, 1', (devices) => {
    const pruner = rungPruner({ kind: 'halving', maximumResource: 9, trials: 9 });
    const { trials, log } = simulate(pruner, 9, (number) => (number * 7) % 9, devices);
    // Numbers 0, 4, 8 have the losses 0, 1, 2.
    expect(reachedSteps(trials)).toEqual([9, 1, 1, 1, 3, 1, 1, 1, 3]);
    expect(log.slice(0, 9).every(({ kind }) => kind === 'begin')).toBe(true);
    expect(log).toHaveLength(13);
  });

  it('resumes with ASHA as soon as a trial is in the best third', () => {
    const pruner = rungPruner({ kind: 'asha', maximumResource: 9 });
    const { log } = simulate(pruner, 6, (number) => number);
    // Of three trials the first is best; later ones are worse, and the share of six trials is two.
    expect(log.map((work) => (work.kind === 'wait' ? work : [work.kind, work.number, work.untilStep]))).toEqual([
      ['begin', 0, 1],
      ['begin', 1, 1],
      ['begin', 2, 1],
      ['resume', 0, 3],
      ['begin', 3, 1],
      ['begin', 4, 1],
      ['begin', 5, 1],
      ['resume', 1, 3],
    ]);
  });

  it('continues with a trial that looked bad at first once others prove worse', () => {
    const pruner = rungPruner({ kind: 'asha', maximumResource: 3 });
    const { trials } = simulate(pruner, 6, (number) => [5, 1, 2, 9, 9, 9][number]);
    expect(reachedSteps(trials)).toEqual([1, 3, 3, 1, 1, 1]);
  });

  it('leaves failed trials out of their rung', () => {
    const pruner = rungPruner({ kind: 'asha', maximumResource: 3 });
    const { trials } = simulate(pruner, 3, (number) => number);
    const failed = trials.map((trial) =>
      trial.number === 0 ? { ...trial, state: 'failed' as const } : { ...trial, state: 'paused' as const },
    );
    expect(nextWork(pruner, failed, 'minimize')).toEqual({ kind: 'begin', number: 3, untilStep: 1 });
  });

  it('completes a trial of a round although another failed on a higher rung', () => {
    const pruner = rungPruner({ kind: 'halving', maximumResource: 9, trials: 9 });
    const at = (number: number, state: Trial['state'], steps: readonly number[]): Trial => ({
      number,
      state,
      values: {},
      objectives: null,
      reports: steps.map((step) => ({ step, value: number })),
    });
    const trials = [
      at(0, 'failed', [1]),
      at(1, 'paused', [1, 3]),
      at(2, 'paused', [1, 3]),
      ...[3, 4, 5, 6, 7, 8].map((number) => at(number, 'paused', [1])),
    ];
    expect(nextWork(pruner, trials, 'minimize')).toEqual({ kind: 'resume', number: 1, untilStep: 9 });
  });

  it('never wastes the best trial: a constant ranking promotes the best of each full rung', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('halving', 'hyperband'),
        fc.integer({ min: 2, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 999 }),
        (kind, reductionFactor, devices, seed) => {
          const pruner = rungPruner({
            kind,
            reductionFactor,
            maximumResource: reductionFactor ** 2,
            ...(kind === 'halving' && { trials: reductionFactor ** 2 }),
          });
          const whole = bracketsOf(pruner).reduce((sum, { trials }) => sum + trials, 0);
          const loss: Loss = (number) => Math.sin(seed + 1.7 * number);
          const { trials } = simulate(pruner, whole, loss, devices);
          const first = trials.slice(0, bracketsOf(pruner)[0].trials);
          const best = first.reduce((least, trial) => (loss(trial.number, 0) < loss(least.number, 0) ? trial : least));
          expect(best.state).toBe('complete');
          expect(trials.some(({ state }) => state === 'running')).toBe(false);
        },
      ),
      { seed: 15 },
    );
  });
});

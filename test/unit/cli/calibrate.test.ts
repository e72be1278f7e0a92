import { describe, expect, it } from 'vitest';
import { calibratedSchema } from '../../../core/protocol/pages/json-outputs.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { EvaluatedSet } from '../../../core/protocol/run/record.ts';
import { calibratedSet as postprocessing, withTooFewDogs } from '../postprocessing/recorded-file.ts';
import type { Postprocessing } from '../../../core/postprocessing/schema.ts';
import { describeCalibrated, requestOf } from '../../../src-main/cli/commands/calibrate.ts';

const usual = {
  split: 'validation',
  method: 'auto',
  calibrationShare: '0.5',
  conformal: 'auto',
  alpha: '0.1',
  outside: 'auto',
  quantile: '0.95',
};

describe('tutti calibrate', () => {
  it('asks for what suits the task, for the best set that was evaluated', () => {
    const { set, request } = requestOf({ ...usual, risk: '0.05', classConditional: true }, { summary: null });
    expect(set).toBe('final');
    expect(request).toMatchObject({
      method: 'auto',
      alpha: 0.1,
      risk: 0.05,
      isClassConditional: true,
      calibrationShare: 0.5,
    });
    const evaluated: EvaluatedSet = {
      set: 'ensemble-best',
      split: 'test',
      ranks: [],
      epochs: [],
      ensemble: {},
      members: {},
    };
    const summary = { attempt: 1, epochs: 1, steps: 1, stopReason: 'completed', metrics: {}, best: null } as const;
    expect(requestOf(usual, { summary: { ...summary, evaluatedSets: [evaluated] } }).set).toBe('ensemble-best');
  });

  it.each([
    [{ alpha: 'much' }, '--alpha "much": it must be a number.'],
    [{ alpha: '1' }, '--alpha'],
    [{ quantile: '0' }, '--quantile'],
    [{ calibrationShare: '1.5' }, '--calibration-share'],
    [{ risk: '-1' }, '--risk'],
  ])('refuses %j', (change, message) => {
    expect(() => requestOf({ ...usual, ...change }, { summary: null })).toThrow(message);
  });

  it('prints figures before and after', () => {
    const calibrated = { postprocessing, warnings: [], path: '/run/postprocessing/final.json' };
    const lines = describeCalibrated(calibrated).map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines).toEqual([
      'Fitted final (2 members) on 200 validation samples, 120 for the calibration and 80 for the rest: joint ' +
        'temperatures 1.250, 1.500 before averaging; conformal aps for 90.0 %; ' +
        'outside above entropy 1.500; answers from a confidence of 0.7500.',
      '',
      'test (100) before after',
      'nll 0.5000 0.4000',
      'ece 0.1000 0.02000',
      '',
      'Coverage 91.0 % ± 2.9 % (wished 90.0 %), 1.250 classes in a set.',
      'AURC 0.01000, AUGRC 0.008000; 88.0 % answered with a risk of 0.05000.',
      '6.0 % of test counts as outside.',
      '',
      'outside the training data flagged best score AUROC AUPR in AUPR out FPR95',
      'letters 50.0 % energy 0.9500 0.8500 0.7500 0.1500',
      '',
      'Wrote /run/postprocessing/final.json',
    ]);
    expect(calibratedSchema.parse(JSON.parse(toJson(calibrated)))).toEqual(calibrated);
  });

  it('names the classes with too few samples, and formats a temperature at an end of the range', () => {
    const judged = {
      method: 'pooled-temperature',
      samples: 10,
      folds: 5,
      gain: { mean: 0.9, lower: 0.4, upper: 1.4 },
      agreement: { mean: 1, lower: 0.5, upper: 1.5 },
      isKept: true,
      ends: [99.99999996113114],
    } as const;
    const fitted = { ...withTooFewDogs, judged: { ...judged, ends: [...judged.ends] } };
    const lines = describeCalibrated({ postprocessing: fitted, warnings: [], path: '/run/postprocessing/final.json' });
    expect(lines).toContain(
      'warning: Every set has dog: 5 samples of it fitted the threshold, and a coverage of 90.0 % needs 9, or ' +
        'more where weights differ.',
    );
    expect(lines.join()).toContain('Its temperature 100.0 is an end of the range that is tried.');
    const nameless = { ...withTooFewDogs, classNames: null };
    expect(describeCalibrated({ postprocessing: nameless, warnings: [], path: '' }).join()).toContain('has class 1:');
  });

  it('names the targets of which each has a factor or an interval', () => {
    const values: Postprocessing = {
      ...postprocessing,
      task: 'heteroscedastic-regression',
      targetNames: ['height', 'mass'],
      calibration: { method: 'sigma', scales: [1.25, 0.5] },
      conformal: {
        kind: 'intervals',
        method: 'split',
        alpha: 0.1,
        margins: [2, Infinity],
        quantiles: null,
        counts: [9, 5],
      },
    };
    const shown = (changes: Partial<Postprocessing>) =>
      describeCalibrated({ postprocessing: { ...values, ...changes }, warnings: [], path: '' }).join('\n');
    expect(shown({})).toContain('standard deviations times 1.250 (height), 0.5000 (mass);');
    expect(shown({})).toContain('warning: The intervals of mass have no ends: 5 samples fitted them');
    expect(shown({ targetNames: null })).toContain('standard deviations times 1.250, 0.5000;');
    expect(shown({ targetNames: null })).toContain('The intervals of target 1 have no ends');
    const calibration = { method: 'labels' as const, fit: 'each' as const, scale: [0.5, 0.8], bias: [0, 0] };
    expect(shown({ classNames: ['sun', 'sea'], calibration })).toContain(
      'temperatures 2.000 (sun), 1.250 (sea) of the labels after averaging',
    );
  });
});

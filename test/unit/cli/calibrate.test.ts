import { describe, expect, it } from 'vitest';
import { calibratedSchema } from '../../../core/protocol/pages/json-outputs.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { EvaluatedSet } from '../../../core/protocol/run/record.ts';
import type { Postprocessing } from '../../../core/postprocessing/schema.ts';
import { describeCalibrated, requestOf } from '../../../src-main/cli/commands/calibration/calibrate.ts';

const usual = {
  split: 'validation',
  method: 'auto',
  conformal: 'auto',
  alpha: '0.1',
  outside: 'auto',
  quantile: '0.95',
};

const postprocessing: Postprocessing = {
  format: 1,
  task: 'classification',
  set: {
    name: 'final',
    members: [
      { rank: 0, checkpoint: 'final', epoch: 4 },
      { rank: 1, checkpoint: 'final', epoch: 4 },
    ],
  },
  fittedOn: { split: 'validation', samples: 200 },
  calibration: { method: 'temperature', fit: 'joint', temperatures: [1.25, 1.5] },
  conformal: {
    kind: 'sets',
    method: 'aps',
    alpha: 0.1,
    thresholds: [0.95],
    isClassConditional: false,
    penalty: 0,
    freeRanks: 0,
  },
  outside: { score: 'entropy', threshold: 1.5, quantile: 0.95 },
  selective: { threshold: 0.75, wishedRisk: 0.05, risk: 0.04, coverage: 0.9 },
  measured: {
    split: 'test',
    samples: 100,
    calibration: { before: { nll: 0.5, ece: 0.1 }, after: { nll: 0.4, ece: 0.02 }, reliability: null },
    conformal: { coverage: 0.91, standardError: 0.0286, meanSize: 1.25, classCoverage: [0.9, 0.92] },
    outside: {
      flagged: 0.06,
      others: [
        {
          name: 'letters',
          kind: 'data',
          samples: 50,
          scores: {
            entropy: { auroc: 0.9, auprIn: 0.8, auprOut: 0.7, fpr95: 0.2 },
            energy: { auroc: 0.95, auprIn: 0.85, auprOut: 0.75, fpr95: 0.15 },
          },
          flagged: 0.5,
        },
      ],
    },
    selective: {
      aurc: 0.01,
      augrc: 0.008,
      curve: [{ coverage: 1, risk: 0.1 }],
      chosen: { coverage: 0.88, risk: 0.05 },
    },
  },
};

describe('tutti calibrate', () => {
  it('asks for what suits the task, for the best set that was evaluated', () => {
    const { set, request } = requestOf({ ...usual, risk: '0.05', classConditional: true }, { summary: null });
    expect(set).toBe('final');
    expect(request).toMatchObject({ method: 'auto', alpha: 0.1, risk: 0.05, isClassConditional: true });
    const evaluated: EvaluatedSet = { set: 'ensemble-best', split: 'test', epochs: [], ensemble: {}, members: {} };
    const summary = { epochs: 1, steps: 1, stopReason: 'completed', metrics: {}, best: null } as const;
    expect(requestOf(usual, { summary: { ...summary, evaluatedSets: [evaluated] } }).set).toBe('ensemble-best');
  });

  it.each([
    [{ alpha: 'much' }, '--alpha "much": it must be a number.'],
    [{ alpha: '1' }, '--alpha'],
    [{ quantile: '0' }, '--quantile'],
    [{ risk: '-1' }, '--risk'],
  ])('refuses %j', (change, message) => {
    expect(() => requestOf({ ...usual, ...change }, { summary: null })).toThrow(message);
  });

  it('prints figures before and after', () => {
    const calibrated = { postprocessing, warnings: [], path: '/run/postprocessing/final.json' };
    const lines = describeCalibrated(calibrated).map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines).toEqual([
      'Fitted final (2 members) on 200 validation samples: joint temperatures 1.250, 1.500 before averaging; conformal aps for 90.0 %; ' +
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
});

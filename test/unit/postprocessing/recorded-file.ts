import type { Postprocessing } from '../../../core/postprocessing/schema.ts';

/** A file of `tutti calibrate` with all parts. */
export const calibratedSet: Postprocessing = {
  format: 1,
  task: 'classification',
  set: {
    name: 'final',
    members: [
      { rank: 0, checkpoint: 'final', epoch: 4 },
      { rank: 1, checkpoint: 'final', epoch: 4 },
    ],
  },
  classNames: null,
  targetNames: null,
  combination: 'mean',
  judged: null,
  fittedOn: { split: 'validation', samples: 200, parts: { calibration: 120, others: 80 } },
  calibration: { method: 'temperature', fit: 'joint', temperatures: [1.25, 1.5] },
  conformal: {
    kind: 'sets',
    method: 'aps',
    alpha: 0.1,
    thresholds: [0.95],
    isClassConditional: false,
    penalty: 0,
    freeRanks: 0,
    counts: [80],
  },
  outside: { score: 'entropy', threshold: 1.5, quantile: 0.95, others: [], reference: null },
  selective: { threshold: 0.75, wishedRisk: 0.05, risk: 0.04, coverage: 0.9 },
  measured: {
    split: 'test',
    samples: 100,
    calibration: {
      before: { nll: 0.5, ece: 0.1 },
      after: { nll: 0.4, ece: 0.02 },
      reliability: {
        before: [{ lower: 0.9, upper: 1, count: 100, confidence: 0.95, accuracy: 0.85 }],
        after: [{ lower: 0.8, upper: 0.9, count: 100, confidence: 0.87, accuracy: 0.85 }],
      },
    },
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
      curve: [
        { coverage: 0.5, risk: 0, threshold: 0.9 },
        { coverage: 1, risk: 0.1, threshold: 0.5 },
      ],
      chosen: { coverage: 0.88, risk: 0.05 },
    },
  },
};

/** Nine cats suffice for sets of 90 %, five dogs do not: each class has its threshold. */
export const withTooFewDogs: Postprocessing = {
  ...calibratedSet,
  classNames: ['cat', 'dog'],
  conformal: {
    kind: 'sets',
    method: 'thr',
    alpha: 0.1,
    thresholds: [0.5, Infinity],
    isClassConditional: true,
    penalty: 0,
    freeRanks: 0,
    counts: [9, 5],
  },
};

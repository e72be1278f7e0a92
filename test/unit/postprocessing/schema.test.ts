import { describe, expect, it } from 'vitest';
import { postprocessingPath, postprocessingSchema } from '../../../core/postprocessing/schema.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';

const file = {
  format: 1,
  task: 'classification',
  set: { name: 'ensemble-best', members: [{ rank: 0, checkpoint: 'ensemble-best', epoch: 3 }] },
  classNames: ['cat', 'dog'],
  targetNames: null,
  combination: 'mean',
  fittedOn: { split: 'validation', samples: 100, parts: null },
  calibration: { method: 'pooled-temperature', temperature: 1.5 },
  judged: null,
  conformal: {
    kind: 'sets',
    method: 'raps',
    alpha: 0.1,
    thresholds: [0.9, Infinity],
    isClassConditional: true,
    penalty: 0.01,
    freeRanks: 1,
    counts: [60, 40],
  },
  outside: { score: 'entropy', threshold: 1.2, quantile: 0.95, others: [] },
  selective: { threshold: 0.6, wishedRisk: 0.05, risk: 0.04, coverage: 0.8 },
  measured: null,
};

describe('a file of postprocessing', () => {
  it('is read as it was written, also with infinite thresholds', () => {
    expect(postprocessingSchema.parse(JSON.parse(toJson(file)))).toEqual(file);
    expect(postprocessingPath('final')).toBe('postprocessing/final.json');
  });

  it('is read where weights make the counts of a reliability diagram fractions', () => {
    const bins = [{ lower: 0, upper: 1, count: 10.5, confidence: 0.6, accuracy: 0.5 }];
    const calibration = { before: {}, after: {}, reliability: { before: bins, after: bins } };
    const measured = { split: 'test', samples: 12, calibration, conformal: null, outside: null, selective: null };
    const own = { ...file, measured };
    expect(postprocessingSchema.parse(JSON.parse(toJson(own)))).toEqual(own);
  });

  it.each([
    [{ ...file, format: 2 }],
    [{ ...file, calibration: { method: 'pooled-temperature', temperature: 0 } }],
    [{ ...file, conformal: { ...file.conformal, alpha: 1 } }],
    [{ ...file, more: 1 }],
  ])('is refused with a wrong value (%#)', (wrong) => {
    expect(postprocessingSchema.safeParse(wrong).success).toBe(false);
  });
});

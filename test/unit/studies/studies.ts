import type { Study } from '../../../core/protocol/studies/study.ts';

/** A study of two parameters that minimizes the ensemble's NLL, with changes. */
export function studyOf(changes: Partial<Study> = {}): Study {
  return {
    format: 1,
    id: 'study-1',
    name: 'wine',
    project: { name: 'wine', folder: '/projects/wine' },
    task: 'classification',
    createdAt: '2026-11-23T07:00:00.000Z',
    space: {
      weightDecay: { kind: 'log', low: 1e-5, high: 30 },
      units: { kind: 'int', low: 1, high: 64 },
    },
    sampler: { kind: 'tpe', startupTrials: 5, candidates: 24, multivariate: null, constantLiar: true },
    pruner: { kind: 'none' },
    resource: 'epochs',
    objectives: [{ metric: 'nll', kind: 'ensemble', direction: 'minimize' }],
    evaluation: 'best',
    overrides: {},
    splits: [],
    seeds: 1,
    parallel: 3,
    trialsPerWorker: 1,
    seed: 7,
    minimumImprovement: 0,
    ...changes,
  };
}

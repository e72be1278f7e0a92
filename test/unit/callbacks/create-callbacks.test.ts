import { describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../protocol/run-config.ts';
import { createCallbacks } from '../../../workers/callbacks/index.ts';
import { RunFiles } from '../../../workers/training/run-files.ts';
import { taskOf } from '../../../workers/training/tasks.ts';

function namesOf(config: RunConfigInput, options: { groupRanks?: number[]; hasValidation?: boolean } = {}): string[] {
  const plan = {
    config: runConfigSchema.parse({ members: 2, ...config }),
    task: taskOf('classification'),
    files: new RunFiles('/nowhere', 0),
    groupRanks: options.groupRanks ?? [0, 1],
    hasValidation: options.hasValidation ?? true,
  };
  return createCallbacks(plan).map(({ name }) => name);
}

describe('createCallbacks', () => {
  it('puts metrics before those who read them', () => {
    expect(namesOf({ earlyStopping: { enabled: true } })).toEqual([
      'ensemble-metrics',
      'per-rank-best-checkpoint:ensemble-best',
      'per-rank-best-checkpoint:member-best',
      'per-rank-checkpoint',
      'keep-predictions',
      'early-stopping',
    ]);
  });

  it('keeps no ensemble-best, but all predictions, of a wave that is not the whole ensemble', () => {
    const names = namesOf({ keepPredictions: 'none' }, { groupRanks: [0] });
    expect(names).not.toContain('per-rank-best-checkpoint:ensemble-best');
    expect(names).toContain('keep-predictions');
  });

  it('leaves out what is turned off, and what needs a validation split', () => {
    const checkpoints = { ensembleBest: false, memberBest: false };
    expect(namesOf({ checkpoints, keepPredictions: 'none' })).toEqual(['ensemble-metrics', 'per-rank-checkpoint']);
    expect(namesOf({}, { hasValidation: false })).toEqual(['per-rank-checkpoint']);
  });

  it('refuses early stopping without a validation split', () => {
    expect(() => namesOf({ earlyStopping: { enabled: true } }, { hasValidation: false })).toThrow(
      'Early stopping needs a validation split, and this project has none. Add one, or turn it off.',
    );
  });
});

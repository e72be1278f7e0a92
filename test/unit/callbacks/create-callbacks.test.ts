import { describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createCallbacks } from '../../../workers/callbacks/index.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';
import { RunFiles } from '../../../workers/member/run-files.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { FakeTraining, evaluationOf } from './fakes.ts';

const wholeGroup = { finishedRanks: [], isInWaves: false };

function namesOf(config: RunConfigInput, options: { isInWaves?: boolean; hasValidation?: boolean } = {}): string[] {
  const plan = {
    config: runConfigSchema.parse({ members: 2, ...config }),
    task: taskOf('classification'),
    files: new RunFiles('/nowhere', 0),
    finishedRanks: [],
    isInWaves: options.isInWaves ?? false,
    hasValidation: options.hasValidation ?? true,
  };
  return createCallbacks(plan).map(({ name }) => name);
}

describe('createCallbacks', () => {
  it('places metrics before the callbacks that read them', () => {
    expect(namesOf({ earlyStopping: { enabled: true } })).toEqual([
      'ensemble-metrics',
      'per-rank-best-checkpoint:ensemble-best',
      'per-rank-best-checkpoint:member-best',
      'per-rank-checkpoint',
      'keep-predictions',
      'early-stopping',
    ]);
  });

  it('saves all predictions but no ensemble-best for a wave that is not the whole ensemble', () => {
    const names = namesOf({ keepPredictions: 'none' }, { isInWaves: true });
    expect(names).not.toContain('per-rank-best-checkpoint:ensemble-best');
    expect(names).toContain('keep-predictions');
  });

  it('omits callbacks that are turned off or lack a validation split', () => {
    const checkpoints = { ensembleBest: false, memberBest: false };
    expect(namesOf({ checkpoints, keepPredictions: 'none' })).toEqual(['ensemble-metrics', 'per-rank-checkpoint']);
    expect(namesOf({}, { hasValidation: false })).toEqual(['per-rank-checkpoint']);
  });

  it('judges best checkpoints and predictions by the configured metric and its direction', async () => {
    const config = runConfigSchema.parse({ members: 2, checkpoints: { monitor: 'val/ens_acc' } });
    const task = ensembleTask(taskOf('classification'), config);
    const files = new RunFiles('/nowhere', 0);
    const callbacks = createCallbacks({ config, task, files, ...wholeGroup, hasValidation: true });
    const training = new FakeTraining();
    for (const [epoch, accuracies] of [
      [0.5, 0.9],
      [0.7, 0.8],
      [NaN, NaN],
      [0.6, 0.95],
    ].entries()) {
      training.epoch = epoch;
      const metrics = { 'val/ens_acc': accuracies[0], 'val/member_0_acc': accuracies[1] };
      for (const callback of callbacks.slice(1)) await callback.onEvaluation?.(training, evaluationOf(metrics));
    }
    expect(training.saved.map(({ name, epoch, monitor }) => `${name} ${epoch} ${monitor}`)).toEqual([
      'ensemble-best 0 val/ens_acc',
      'member-best 0 val/member_0_acc',
      'ensemble-best 1 val/ens_acc',
      'member-best 3 val/member_0_acc',
    ]);
    expect(training.keptPredictions).toHaveLength(2);
  });

  it('refuses early stopping without a validation split', () => {
    expect(() => namesOf({ earlyStopping: { enabled: true } }, { hasValidation: false })).toThrow(
      'Early stopping needs a validation split, and this project has none. Add one, or turn it off.',
    );
  });
});

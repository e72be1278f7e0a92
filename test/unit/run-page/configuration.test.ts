import { describe, expect, it } from 'vitest';
import { describeOptions, getPath } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { Attempt } from '../../../core/protocol/run/record.ts';
import {
  configEntries,
  configHistory,
  describeAttempt,
  spellValue,
} from '../../../src-renderer/views/run/configuration/config-history.ts';

const defaults = runConfigSchema.parse({});
const options = describeOptions(runConfigSchema);
const config = runConfigSchema.parse({
  members: 4,
  devices: [0, 1],
  optimizer: { kind: 'sgd', momentum: 0.9 },
  hyperparameters: { width: 64 },
});
const entries = configEntries(config, defaults, options);
const entryAt = (path: string) => entries.find((entry) => entry.path === path);

describe('the configuration of a run', () => {
  it('shows the differences from the defaults', () => {
    expect(entries.filter(({ isChanged }) => isChanged).map(({ path }) => path)).toEqual([
      'members',
      'devices',
      'optimizer.kind',
      'optimizer.learningRate',
      'optimizer.momentum',
      'optimizer.nesterov',
      'hyperparameters.width',
    ]);
    expect(entryAt('members')).toMatchObject({ value: 4, standard: 2 });
    expect(entryAt('optimizer.momentum')?.standard).toBeUndefined();
  });

  it('has the help and unit of its options', () => {
    expect(entryAt('batchSize')).toMatchObject({
      help: 'Samples per step and rank (B).',
      unit: 'samples',
      isChanged: false,
    });
  });

  it('formats values as the terminal accepts them', () => {
    expect([spellValue('adam'), spellValue(true), spellValue([0, 1]), spellValue(undefined)]).toEqual([
      'adam',
      'true',
      '[0,1]',
      '–',
    ]);
  });
});

describe('the configurations of a resumed run', () => {
  const attempt = { startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'finished' as const };
  const slower = runConfigSchema.parse({ optimizer: { kind: 'adam', learningRate: 0.25 } });
  const faster = runConfigSchema.parse({ optimizer: { kind: 'adam', learningRate: 0.5 } });
  const rates = (record: Parameters<typeof configHistory>[0]) =>
    configHistory(record).map((one) => getPath(one, ['optimizer', 'learningRate']));

  it('are those of its attempts in order, including live changes', () => {
    const attempts = [
      { ...attempt, attempt: 1, config: slower, changed: { learningRate: 0.125 } },
      { ...attempt, attempt: 2, config: faster },
    ];
    expect(rates({ attempts, config: faster })).toEqual([0.25, 0.125, 0.5, 0.5]);
    expect(rates({ attempts, config: faster, changed: { learningRate: 1 } })).toEqual([0.25, 0.125, 0.5, 1]);
  });

  it('belong to attempts that store where they began', () => {
    const at = (facts: Partial<Attempt>) => describeAttempt({ ...attempt, attempt: 2, ...facts });
    expect(at({})).toBe('Attempt 2');
    expect(at({ kind: 'start', from: { epoch: 0, step: 0 } })).toBe('Attempt 2, started');
    expect(at({ kind: 'resume', from: { epoch: 4, step: 12 } })).toBe('Attempt 2, resumed at epoch 5 (step 12)');
    expect(at({ kind: 'restart', from: null })).toBe('Attempt 2, restarted');
  });
});

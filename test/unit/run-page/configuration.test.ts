import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../../protocol/options.ts';
import { runConfigSchema } from '../../../protocol/run-config.ts';
import {
  configEntries,
  overridesOf,
  spellValue,
} from '../../../src-renderer/views/run/configuration/config-entries.ts';

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
  it('says what differs from the defaults', () => {
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
      help: 'Samples a step and rank (B).',
      unit: 'samples',
      isChanged: false,
    });
  });

  it('gives overrides that make the same run again', () => {
    expect(runConfigSchema.parse(overridesOf(entries))).toEqual(config);
  });

  it('spells values as the terminal takes them', () => {
    expect([spellValue('adam'), spellValue(true), spellValue([0, 1]), spellValue(undefined)]).toEqual([
      'adam',
      'true',
      '[0,1]',
      '-',
    ]);
  });
});

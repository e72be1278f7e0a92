import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { parseAssignments, parseOverrides, parseTrainArguments } from '../../../src-main/cli/arguments.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';
import { UsageError } from '../../../src-main/cli/errors.ts';

const project: ProjectDescription = {
  name: 'Blobs',
  description: 'Three blobs.',
  task: 'classification',
  hasOwnLoss: false,
  permissions: noPermissions,
  hyperparameters: describeOptions(
    z.object({
      width: z.int().min(1).default(8),
      noBias: z.boolean().default(false),
      name: z.string().default('plain'),
      head: z.object({ units: z.int().default(3) }).prefault({}),
    }),
  ),
  defaults: {},
};
const flags = runFlagsOf(project);

function overrides(...args: string[]): unknown {
  return parseTrainArguments(args, flags).overrides;
}

function complaint(...args: string[]): string {
  try {
    parseTrainArguments(args, flags);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`${args.join(' ')} was accepted.`);
}

describe('parseTrainArguments', () => {
  it('reads a flag for every option of the run and every hyperparameter', () => {
    expect(overrides('--members', '4', '--max-epochs=20', '--devices', '-1', '--optimizer', 'sgd')).toEqual({
      members: 4,
      maxEpochs: 20,
      devices: '-1',
      optimizer: { kind: 'sgd' },
    });
    expect(overrides('--optimizer.learning-rate', '1e-2', '--width', '256', '--head.units', '5')).toEqual({
      optimizer: { learningRate: 0.01 },
      hyperparameters: { width: 256, head: { units: 5 } },
    });
  });

  it('reads short forms, and the names that other tools give options', () => {
    const expected = { members: 4, maxEpochs: 20, batchSize: 8, optimizer: { learningRate: 0.01 }, seed: 7 };
    expect(overrides('-m', '4', '-e', '20', '-b', '8', '-l', '0.01', '-s7')).toEqual(expected);
    expect(overrides('-m4', '--epochs=20', '--batch', '8', '--lr', '1e-2', '--seed', '7')).toEqual(expected);
    expect(overrides('--learning-rate', '0.01')).toEqual({ optimizer: { learningRate: 0.01 } });
    expect(
      parseTrainArguments(['-q', '-j', '-d', '-n', 'first', '-o', 'x', '-c', 'y.json', '-h'], flags),
    ).toMatchObject({
      quiet: true,
      json: true,
      detach: true,
      name: 'first',
      out: 'x',
      config: 'y.json',
      help: true,
    });
    expect(complaint('--epochs', 'many')).toMatch(/--max-epochs "many": it must be a whole number/);
  });

  it("leaves such a name to a project's own hyperparameter", () => {
    const own = { ...project, hyperparameters: describeOptions(z.object({ lr: z.number().default(1) })) };
    expect(parseTrainArguments(['--lr', '3'], runFlagsOf(own)).overrides).toEqual({ hyperparameters: { lr: 3 } });
  });

  it('reads booleans with and without a value, including names that start with "no"', () => {
    expect(overrides('--drop-last', '--early-stopping.joint', 'false', '--early-stopping.enabled=true')).toEqual({
      dropLast: true,
      earlyStopping: { joint: false, enabled: true },
    });
    expect(overrides('--no-bias')).toEqual({ hyperparameters: { noBias: true } });
    expect(overrides()).toEqual({});
  });

  it("sets by path or by the bare name of a hyperparameter, and treats a union's value as its kind", () => {
    expect(overrides('--set', 'batchSize=512', '--set', 'width=3', '--set', 'hyperparameters.noBias=true')).toEqual({
      batchSize: 512,
      hyperparameters: { width: 3, noBias: true },
    });
    expect(overrides('--set', 'schedule=cosine', '--set=schedule.warmupSteps=10')).toEqual({
      schedule: { kind: 'cosine', warmupSteps: 10 },
    });
  });

  it('lets the last of several flags or --set win', () => {
    expect(overrides('--members', '4', '--set', 'members=3')).toEqual({ members: 3 });
    expect(overrides('--set', 'members=3', '--members', '4')).toEqual({ members: 4 });
  });

  it('keeps its own flags, and sets a hyperparameter of the same name by --set', () => {
    expect(parseTrainArguments(['--name', 'first', '--set', 'name=wide', '--json', '-h'], flags)).toEqual({
      overrides: { hyperparameters: { name: 'wide' } },
      name: 'first',
      json: true,
      help: true,
    });
  });

  it('suggests an existing option for an unknown one', () => {
    expect(complaint('--memberz', '4')).toBe('There is no option --memberz. Did you mean --members?');
    expect(complaint('--early-stoping.patience=3')).toBe(
      'There is no option --early-stoping.patience. Did you mean --early-stopping.patience?',
    );
    expect(complaint('--qiet')).toBe('There is no option --qiet. Did you mean --quiet?');
    expect(complaint('--set', 'batchsise=3')).toBe('There is no option batchsise. Did you mean batchSize?');
  });

  it('reports what is wrong with a value', () => {
    expect(complaint('--members', 'four')).toBe(
      '--members "four": it must be a whole number from 1 to 256. Leave it out for the default, 2.',
    );
    expect(complaint('--optimizer', 'adma')).toMatch(
      /^--optimizer "adma": it must be one of sgd, adam, [a-z, ]+\. Did you mean adam\?$/,
    );
    expect(complaint('--width', '0')).toBe(
      '--width "0": it must be a whole number of at least 1. Leave it out for the default, 8.',
    );
    expect(complaint('--members')).toBe("option '-m, --members <value>' argument missing");
    expect(complaint('--set', 'members')).toBe(
      '--set "members": it must be path=value, such as --set optimizer.learningRate=0.01.',
    );
    expect(complaint('4')).toBe('"4" belongs to no option. Options look like --members 4.');
  });
});

describe('parseAssignments', () => {
  it('merges several assignments into one layer', () => {
    expect(parseAssignments(['maxEpochs=200', 'optimizer.beta1=0.8'], runFlagsOf(null))).toEqual({
      maxEpochs: 200,
      optimizer: { beta1: 0.8 },
    });
    expect(() => parseAssignments(['width=3'], runFlagsOf(null))).toThrow(UsageError);
  });
});

describe('parseOverrides', () => {
  it('adds --max-epochs, or its other name, to the assignments', () => {
    expect(parseOverrides({ set: ['seed=3'], maxEpochs: '9' })).toEqual({ seed: 3, maxEpochs: 9 });
    expect(parseOverrides({ set: [], epochs: '9' })).toEqual({ maxEpochs: 9 });
    expect(parseOverrides({ set: [] })).toEqual({});
    expect(() => parseOverrides({ set: [], epochs: '9', maxEpochs: '8' })).toThrow('give one');
    expect(() => parseOverrides({ set: [], maxEpochs: '0' })).toThrow(/--max-epochs "0": it must be a whole number/);
  });
});

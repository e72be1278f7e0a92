import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { optionsOf, resolveConfig } from '../../../src-main/runs/configuration/resolve-config.ts';
import { z } from 'zod';

function describeProject(
  hyperparameters: z.ZodObject,
  defaults: ProjectDescription['defaults'] = {},
): ProjectDescription {
  return {
    name: 'Wine',
    description: '',
    task: 'regression',
    hasOwnLoss: false,
    permissions: noPermissions,
    hyperparameters: describeOptions(hyperparameters),
    defaults,
  };
}

const wine = describeProject(z.object({ width: z.int().default(64), noise: z.number().default(0.1) }), {
  maxEpochs: 40,
  optimizer: { kind: 'sgd', learningRate: 0.5 },
});

describe('resolveConfig', () => {
  it("merges the general defaults, the project's and the overrides, with the last one winning", () => {
    const config = resolveConfig(wine, [
      { maxEpochs: 30, batchSize: 16 },
      { batchSize: 8, hyperparameters: { width: 32 } },
    ]);
    expect(config).toMatchObject({
      members: 2,
      maxEpochs: 30,
      batchSize: 8,
      optimizer: { kind: 'sgd', learningRate: 0.5, momentum: 0 },
      hyperparameters: { width: 32, noise: 0.1 },
    });
  });

  it('lets a layer set one field of the default optimizer without naming the optimizer', () => {
    const config = resolveConfig(describeProject(z.object({})), [{ optimizer: { learningRate: 0.02 } }]);
    expect(config.optimizer).toMatchObject({ kind: 'adam', learningRate: 0.02, beta1: 0.9 });
  });

  it('names path, value and rule of every wrong value', () => {
    const resolve = () => resolveConfig(wine, [{ members: 0, batchSize: 'many' }]);
    expect(resolve).toThrow(/^The configuration is not valid\.\n/);
    expect(resolve).toThrow(/members.*0/);
    expect(resolve).toThrow(/batchSize.*many/);
  });

  it('refuses an unknown hyperparameter and suggests a known one', () => {
    expect(() => resolveConfig(wine, [{ hyperparameters: { widht: 3 } }])).toThrow(/widht.*width.*project "Wine"/s);
  });
});

describe('optionsOf', () => {
  it("returns the run's options, then the project's", () => {
    const paths = optionsOf(wine).map(({ path }) => path);
    expect(paths[0]).toBe('members');
    expect(paths.slice(-2)).toEqual(['width', 'noise']);
  });

  it('refuses a hyperparameter with the name of a run option', () => {
    expect(() => optionsOf(describeProject(z.object({ batchSize: z.int().default(1) })))).toThrow(
      'Project "Wine" has a hyperparameter "batchSize", which is an option of every run. Give it another name.',
    );
  });
});

import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { samplers } from '../../../core/studies/samplers/index.ts';
import { addStudies } from '../../../src-main/cli/program/studies.ts';
import { requestOf, type SearchOptions } from '../../../src-main/cli/commands/studies/search-options.ts';
import { studyOf } from '../../../src-main/studies/create-study.ts';

const project: ProjectDescription = {
  name: 'Wine',
  description: '',
  task: 'regression',
  hasOwnLoss: false,
  hyperparameters: [
    { path: 'weightDecay', flag: '--weight-decay', type: 'number', help: '', default: 1, exclusiveMinimum: 0 },
    { path: 'split', flag: '--split', type: 'integer', help: '', default: 0, minimum: 0, maximum: 19 },
  ],
  defaults: {},
  permissions: { network: false, read: [], write: [], environment: [], processes: false },
};

const request = (options: Partial<SearchOptions>) =>
  requestOf('/wine', project, { search: [], objective: [], splits: [], set: [], ...options });

const study = (options: Partial<SearchOptions>) =>
  studyOf(request({ search: ['weightDecay=log(1e-5,30)'], ...options }), project, 4);

describe('the options of tutti search', () => {
  it('make a study', () => {
    expect(
      study({
        objective: ['ensemble', 'mean-member:mse'],
        splits: ['split=0,1,2'],
        seeds: '2',
        sampler: 'grid(7)',
        members: '8',
        set: ['optimizer=sgd'],
      }),
    ).toMatchObject({
      name: 'Wine',
      space: { weightDecay: { kind: 'log', low: 1e-5, high: 30 } },
      objectives: [
        { metric: 'mse', kind: 'ensemble', direction: 'minimize' },
        { metric: 'mse', kind: 'mean-member', direction: 'minimize' },
      ],
      splits: [{ split: 0 }, { split: 1 }, { split: 2 }],
      seeds: 2,
      sampler: { kind: 'grid', points: 7 },
      parallel: 4,
      overrides: { members: 8, optimizer: { kind: 'sgd' } },
    });
    expect(study({ splits: ['2'] }).splits).toEqual([
      { 'data.folds': 2, 'data.fold': 0 },
      { 'data.folds': 2, 'data.fold': 1 },
    ]);
    expect(study({ pruner: 'asha(1,81,3)' }).pruner).toMatchObject({ kind: 'asha', maximumResource: 81 });
  });

  it.each<[Partial<SearchOptions>, string]>([
    [{ search: ['wieghtDecay=log(1e-5,30)'] }, 'Did you mean optimizer.weightDecay or weightDecay?'],
    [{ search: ['weightDecay=float(0,30)'] }, 'weightDecay would be 0, but must be a number above 0'],
    [{ search: ['split=int(0,19)'], splits: ['split=0,1'] }, 'split makes the splits, so it cannot be searched too'],
    [{ objective: ['mean'] }, '--objective "mean": it must be ensemble or mean-member'],
    [{ objective: ['ensemble:accc'] }, 'Did you mean'],
    [{ trials: '0' }, '--trials "0": it must be a whole number of at least 1'],
    [{ sampler: 'bayes' }, '--sampler "bayes": it must be tpe, gp'],
    [{ pruner: 'asha' }, '--pruner "asha": it must be none, median'],
    [{ splits: ['three'] }, '--splits: "three" are no splits'],
    [{ set: ['batchSize=0'] }, 'batch-size "0"'],
  ])('are refused with the remedy: %j', (options, message) => {
    expect(() => study(options)).toThrow(message);
  });

  it('name all samplers in their help', () => {
    const program = new Command();
    addStudies(program);
    const search = program.commands.find((command) => command.name() === 'search');
    const help = search?.options.find(({ long }) => long === '--sampler')?.description;
    for (const kind of Object.keys(samplers)) expect(help).toMatch(new RegExp(String.raw`\b${kind}\b`));
  });

  it('need a space', () => {
    expect(() => studyOf(request({}), project, 4)).toThrow('names nothing to search');
  });
});

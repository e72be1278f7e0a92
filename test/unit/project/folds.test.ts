import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { noteData } from '../../../workers/data/notes.ts';
import { splitDataset } from '../../../workers/data/split.ts';
import { defineProject, type DataContext } from '../../../workers/project/define-project.ts';
import { loadProjectData } from '../../../workers/project/load-project.ts';
import { Generator } from '../../../workers/random/index.ts';

const dataset = createDataset({
  name: 'ten',
  featureShape: [1],
  features: Float32Array.from({ length: 10 }, (_, i) => i),
  targets: new Float32Array(10),
});

/** Loads the data of a project as a run with these options does. */
function load(options: object, data: (context: DataContext<object>) => ReturnType<typeof splitDataset>) {
  const about = { name: 'folds', description: '', hyperparameters: z.object({}), task: 'regression' as const };
  const project = defineProject({
    ...about,
    data,
    model() {
      throw new Error('No test builds a model.');
    },
  });
  const dataFolders = { lookup: null, cache: '' };
  return loadProjectData(project, {}, { config: runConfigSchema.parse({ data: options }), dataFolders });
}

it('the splits carry the notes of what read them, each once; outside data() they go to the error output', async () => {
  const { notes } = await load({}, () => {
    for (const message of ['First.', 'Second.', 'First.']) noteData(message);
    return { train: dataset };
  });
  expect(notes).toEqual(['First.', 'Second.']);
  expect((await load({}, () => ({ train: dataset }))).notes).toBeUndefined();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  for (const message of ['Third.', 'Third.']) noteData(message);
  expect(warn.mock.calls).toEqual([['Third.']]);
  warn.mockRestore();
});

describe('folds of a run', () => {
  const split = ({ seed, fold }: DataContext<object>) =>
    splitDataset(dataset, { test: 3, fold }, new Generator(seed, 'split'));

  it('reach the project, which makes its test split of them', async () => {
    const tested = [];
    for (const fold of [0, 1, 2, 3, 4]) {
      const { test } = await load({ folds: 5, fold }, split);
      tested.push(...(test?.features ?? []));
    }
    expect(tested.toSorted((a, b) => a - b)).toEqual([...dataset.features]);
    expect((await load({}, split)).test?.length).toBe(3);
    expect((await load({ folds: 5, foldPerRank: true }, split)).test?.length).toBe(3);
  });

  it('must be read by the project', async () => {
    await expect(load({ folds: 5, fold: 2 }, () => ({ train: dataset }))).rejects.toThrow(
      'The run is to test on fold 2 of 5, but data() of the project "folds" does not read its argument\'s `fold`.',
    );
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { orderClasses } from '../../../core/preprocessing/reading.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { createDataset, createSplits, type Splits } from '../../../workers/data/dataset.ts';
import { withKeptClasses } from '../../../workers/data/kept-classes.ts';
import { temporaryFolder } from './temp-folder.ts';

describe('orderClasses', () => {
  it.each<[string, string[], string[]]>([
    ['whole numbers', ['10', '2', '12', '1', '2'], ['1', '2', '10', '12']],
    [
      'negative numbers and fractions',
      ['1.5', '-2', '1.25', '-10', '0', '1e1'],
      ['-10', '-2', '0', '1.25', '1.5', '1e1'],
    ],
    ['names with numbers', ['fold 10', 'fold 2', 'Fold 1'], ['Fold 1', 'fold 2', 'fold 10']],
    ['numbers beside names', ['unknown', '10', '9', '9a'], ['9', '9a', '10', 'unknown']],
    ['names that differ in case only', ['b', 'A', 'a', 'B'], ['a', 'A', 'b', 'B']],
    ['spellings of one number', ['1.0', '1', '01'], ['01', '1', '1.0']],
  ])('orders %s', (_, names, ordered) => {
    expect(orderClasses(names)).toEqual(ordered);
    expect(orderClasses(names.toReversed())).toEqual(ordered);
  });
});

describe('withKeptClasses', () => {
  const target = (classNames: string[]): Preprocessing => ({
    format: 1,
    steps: [],
    target: { kind: 'classes', column: 'class', classNames },
  });
  const splitsOf = (classNames: string[], labels: number[]): Splits => {
    const dataset = createDataset({
      name: 'digits',
      featureShape: [1],
      features: Float32Array.from(labels),
      targets: Int32Array.from(labels),
      classNames,
    });
    return createSplits({ train: dataset, validation: dataset, preprocessing: target(classNames) });
  };
  const runWith = async (name: string, classNames: string[] | null, ...below: string[]): Promise<string> => {
    const run = join(await temporaryFolder(), name);
    await mkdir(join(run, ...below), { recursive: true });
    if (classNames !== null) {
      await writeFile(join(run, ...below, 'preprocessing.json'), JSON.stringify(target(classNames)));
    }
    return run;
  };

  it('keeps the order that the run began with, in all splits', async () => {
    const run = await runWith('old', ['1', '10', '2']);
    const splits = await withKeptClasses(splitsOf(['1', '2', '10'], [0, 1, 2, 1]), run);
    for (const { classNames, targets } of [splits.train, splits.validation!]) {
      expect(classNames).toEqual(['1', '10', '2']);
      expect([...targets]).toEqual([0, 2, 1, 2]);
    }
    expect(splits.preprocessing).toEqual(target(['1', '10', '2']));
  });

  it('changes nothing for a new run, nor where the order is the same', async () => {
    const splits = splitsOf(['1', '2', '10'], [0, 1, 2]);
    expect(await withKeptClasses(splits, await runWith('new', null))).toBe(splits);
    expect(await withKeptClasses(splits, await runWith('same', ['1', '2', '10']))).toBe(splits);
  });

  it('keeps the order of the run that a fork comes from, unless its classes are others', async () => {
    const splits = splitsOf(['1', '2', '10'], [0, 1, 2]);
    const fork = await withKeptClasses(splits, await runWith('fork', ['1', '10', '2'], 'origin'));
    expect([...fork.train.targets]).toEqual([0, 2, 1]);
    expect(await withKeptClasses(splits, await runWith('tuned', ['cat', 'dog'], 'origin'))).toBe(splits);
  });

  it('refuses other classes than those of the run', async () => {
    const run = await runWith('other', ['a', 'b', 'c']);
    await expect(withKeptClasses(splitsOf(['a', 'b', 'd'], [0, 1, 2]), run)).rejects.toThrow(
      /trained for: missing "c", new "d"\. Restore the data, or begin anew\.$/,
    );
    await writeFile(join(run, 'preprocessing.json'), '{');
    await expect(withKeptClasses(splitsOf(['a', 'b', 'd'], [0, 1, 2]), run)).rejects.toThrow(/is damaged/);
  });
});

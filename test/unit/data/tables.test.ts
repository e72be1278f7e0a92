import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnTypes, fitted } from '../../../workers/data/preprocessing/fitted.ts';
import { fitColumn, misfitsOf, tableFeatures } from '../../../workers/data/preprocessing/table-features.ts';
import { preprocessingSchema } from '../../../core/preprocessing/schema.ts';
import type { Column } from '../../../workers/data/tables/columns.ts';
import { parseTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import { tableDataset, tableSplits, type TableSplitOptions } from '../../../workers/data/tables/table-splits.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { gatherBatch } from '../../../workers/data/dataset.ts';
import { holdOutOf, withHoldOut } from '../../../workers/data/hold-out.ts';
import { targetWeights } from '../../../workers/member/tasks/checks.ts';
import { goldenFile, readGolden } from '../../golden/read-golden.ts';

interface Expected {
  columns: Record<string, (number | string | null)[]>;
  train: number[];
  rest: number[];
  features: number[][];
  categories: string[];
  classWeights: number[];
}

const expected = readGolden('tables/expected.json') as Expected;
const golden = async (name: string, options?: ReadTableOptions) =>
  parseTable(await readFile(goldenFile(`tables/${name}`)), name, options);
const tableOf = (text: string, options?: ReadTableOptions) => parseTable(Buffer.from(text), 'file.csv', options);
/** The lines of the error that a call throws. */
const refusal = (call: () => unknown): string[] => {
  try {
    call();
  } catch (error) {
    return messageOf(error).split('\n');
  }
  return [];
};
const featureNames = ['fare', 'age', 'port', 'alone', 'boarded'];

describe('readTable', () => {
  it.each([
    'passengers.csv',
    'passengers.jsonl',
    'passengers.parquet',
    'passengers-zstd.parquet',
    'passengers-gzip.parquet',
    'passengers-plain-v2.parquet',
    'passengers.arrow',
    'passengers-zstd.arrow',
    'passengers-lz4.arrow',
  ])('reads %s as pandas wrote it', async (name) => {
    const { columns, length } = await golden(name);
    expect(length).toBe(40);
    const types = columns.map((column) => [column.name, column.type]);
    expect(types).toEqual([
      ['fare', 'number'],
      ['age', 'number'],
      ['port', 'category'],
      ['alone', 'boolean'],
      ['boarded', 'date'],
      ['class', 'category'],
    ]);
    for (const { name: column, values } of columns) {
      const found = Array.from(values as ArrayLike<number | string | null>, (value) =>
        Number.isNaN(value) ? null : value,
      );
      expect(found).toEqual(expected.columns[column]);
    }
  });

  it('reads columns by the given types, without the ignored ones', async () => {
    const table = await tableOf('id,zip,size\n1,00123,-\n2,10115,7\n', {
      columns: { id: 'ignore', zip: 'category' },
      missingValues: ['-'],
    });
    expect(table.columns).toEqual([
      { name: 'zip', type: 'category', values: ['00123', '10115'] },
      { name: 'size', type: 'number', values: Float64Array.of(Number.NaN, 7) },
    ]);
  });

  it('reads dates with zones and fractions, and refuses days that do not exist', async () => {
    const dates = ['1970-01-02', '1969-12-31T12:00:00Z', '2000-02-29 00:00:00.5+01:00'];
    const { columns } = await tableOf(`when,x\n${dates.map((date) => `${date},1`).join('\n')}\n`);
    expect(columns[0].values).toEqual(Float64Array.of(1, -0.5, 11_016 - 1 / 24 + 0.5 / 86_400));
    await expect(tableOf('when,x\n2026-02-30,1\n', { columns: { when: 'date' } })).rejects.toThrow(
      'file.csv, line 2, column 1 (when): "2026-02-30" is not a date',
    );
  });

  it.each([
    ['a,b\n1,2\n3,x\n5,6\n', {}, 'file.csv, line 3, column 2 (b): "x" is not a number'],
    ['a,a\n1,2\n', {}, 'file.csv has two columns named "a"'],
    ['a,b\n1,2\n', { columns: { c: 'number' } }, 'file.csv has no column "c"'],
    ['a,b\n', {}, 'file.csv has no rows of data'],
  ] as const)('refuses %j', async (text, options, message) => {
    await expect(tableOf(text, options)).rejects.toThrow(message);
  });

  it('refuses a damaged Parquet file', async () => {
    const bytes = await readFile(goldenFile('tables/passengers.parquet'));
    await expect(parseTable(bytes.subarray(0, -9), 'cut.parquet')).rejects.toThrow(
      'cut.parquet cannot be read as Parquet',
    );
  });
});

describe('fitted columns', () => {
  it('are those of pandas and scikit-learn', async () => {
    const table = await golden('passengers.csv');
    const rows = Int32Array.from(expected.train);
    const about = { name: 'passengers', rows, standardize: true, imputes: () => true };
    const columns = featureNames.map((name) => {
      const column = table.columns.find((own) => own.name === name);
      if (column === undefined) throw new Error(name);
      return fitColumn(column, about);
    });
    const step = { kind: 'table' as const, columns };
    const { features, width } = tableFeatures(
      step,
      table,
      Int32Array.from({ length: 40 }, (_, row) => row),
    );
    expect(width).toBe(expected.features[0].length);
    features.forEach((value, i) => expect(value).toBeCloseTo(expected.features[Math.floor(i / width)][i % width], 5));
    expect(fitted({ format: 1, steps: [step] }).features(table)).toEqual(features);
  });

  it('take categories that begin like formulas as they are written', async () => {
    const step = {
      kind: 'table' as const,
      columns: [{ name: 'kind', type: 'category' as const, impute: null, categories: ['+', '=x', '@y'] }],
    };
    const table = await tableOf("kind\n=x\n@y\n+\n'=x\n'+\n");
    const { features } = tableFeatures(step, table, Int32Array.of(0, 1, 2, 3, 4));
    expect([...features]).toEqual([0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    const misfitAt = misfitsOf(step.columns[0], table.columns[0]);
    expect([0, 1, 2, 3, 4].map(misfitAt)).toEqual([null, null, null, 'unseen', 'unseen']);
  });

  it('know the range of the training split, beyond which a number or a date does not fit', async () => {
    const text = 'size,when,same,sold,y\n0.1,2026-01-02,7,true,1\n,2026-03-01,7,true,2\n-4,2026-02-01,7,true,3\n';
    const table = await tableOf(text);
    const about = { name: 'sizes', rows: Int32Array.of(0, 1, 2), standardize: false, imputes: () => true };
    const steps = table.columns.slice(0, 4).map((column) => fitColumn(column, about));
    // 2026-01-01 is day 20454.
    expect(steps).toMatchObject([
      { smallest: -4, largest: 0.1 },
      { smallest: 20455, largest: 20513 },
      { smallest: 7, largest: 7 },
      { smallest: 1, largest: 1 },
    ]);
    const kinds = (step: number, values: number[]) => {
      const misfitAt = misfitsOf(steps[step], { ...table.columns[step], values: Float64Array.from(values) } as Column);
      return values.map((_, row) => misfitAt(row));
    };
    // 0.1 as float32 is a little more than 0.1, as a file of float32 values has it.
    const sizes = [-4, -4.001, 0, Math.fround(0.1), 0.1001, Number.NaN];
    expect(kinds(0, sizes)).toEqual([null, 'outside', null, null, 'outside', 'missing']);
    expect(kinds(0, [Infinity, -Infinity])).toEqual(['outside', 'outside']);
    expect(kinds(1, [20455, 20454, 20513, 20514])).toEqual([null, 'outside', null, 'outside']);
    expect(kinds(2, [7, 6, 8])).toEqual([null, 'outside', 'outside']);
    expect(kinds(3, [1, 0])).toEqual([null, 'outside']);
  });

  it('impute ties by the first value in order', async () => {
    const table = await tableOf('kind,y\nb,1\na,2\n,3\n');
    const about = { name: 'ties', rows: Int32Array.of(0, 1, 2), standardize: true, imputes: () => true };
    expect(fitColumn(table.columns[0], about)).toMatchObject({ impute: { value: 'a', indicator: true } });
  });
});

describe('tableSplits', () => {
  const labels = (count: number) =>
    Array.from({ length: count }, (_, i) => `${i},${i % 4 === 0 ? 'no' : 'yes'},g${i % 7}`);
  const table = () => tableOf(`x,y,g\n${labels(40).join('\n')}\n`);
  const options: TableSplitOptions = { seed: 3, target: 'y', group: 'g', standardize: false };
  const rowsOf = (dataset?: { features: ArrayLike<number> }) => Array.from(dataset?.features ?? []);

  it('partitions the rows, repeatably, with the classes in proportion', async () => {
    const own = { ...options, group: undefined, stratify: true, test: 0.2, validation: 8 };
    const columns = { g: 'ignore' as const };
    const split = tableSplits(await tableOf(`x,y,g\n${labels(40).join('\n')}\n`, { columns }), own);
    const { train, validation, test } = split;
    const all = [train, validation, test].flatMap(rowsOf).sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 40 }, (_, i) => i));
    const noes = [train, validation, test].map((part) => part?.targets.filter((label) => label === 0).length);
    expect([noes, test?.length, validation?.length]).toEqual([[6, 2, 2], 8, 8]);
    expect(train.classNames).toEqual(['no', 'yes']);
    expect(tableSplits(await tableOf(`x,y,g\n${labels(40).join('\n')}\n`, { columns }), own)).toEqual(split);
  });

  it('keeps groups together, also in folds, which partition the rows', async () => {
    const { train, test } = tableSplits(await table(), { ...options, test: 0.3 });
    const groups = (dataset?: { features: ArrayLike<number> }) => new Set(rowsOf(dataset).map((row) => row % 7));
    expect([...groups(train)].filter((group) => groups(test).has(group))).toEqual([]);
    const folds = await Promise.all(
      [0, 1, 2].map(async (index) => tableSplits(await table(), { ...options, fold: { count: 3, index } }).test),
    );
    expect(folds.flatMap(rowsOf).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(folds.map((fold) => groups(fold).size).sort((a, b) => a - b)).toEqual([2, 2, 3]);
  });

  it('has stratified folds whose sizes differ by at most one', async () => {
    const property = fc.property(fc.integer({ min: 2, max: 7 }), fc.integer({ min: 0, max: 1000 }), (count, seed) => {
      const sizes = Array.from({ length: count }, (_, index) => {
        const { test } = tableSplits(shared, {
          ...options,
          group: undefined,
          stratify: true,
          seed,
          fold: { count, index },
        });
        return [test?.length ?? 0, test?.targets.filter((label) => label === 0).length ?? 0];
      });
      for (const part of [0, 1]) {
        const own = sizes.map((size) => size[part]);
        expect(Math.max(...own) - Math.min(...own)).toBeLessThanOrEqual(1);
      }
    });
    const shared = await tableOf(
      `x,y\n${labels(40)
        .map((line) => line.slice(0, line.lastIndexOf(',')))
        .join('\n')}\n`,
    );
    fc.assert(property, { seed: 5, numRuns: 50 });
  });

  it('weighs classes as scikit-learn does, times the column of weights', async () => {
    const { columns } = expected;
    const lines = expected.train.map((row) => `${row},2,${columns.class[row]}`);
    const { train } = tableSplits(await tableOf(`x,w,y\n${lines.join('\n')}\n`), {
      seed: 1,
      classWeights: 'balanced',
      weights: 'w',
    });
    const { weights } = gatherBatch(train, Int32Array.from(train.targets.keys()));
    train.targets.forEach((label, i) => expect(weights?.[i]).toBeCloseTo(2 * expected.classWeights[label], 5));
    // Metrics use the column of weights alone.
    expect(train.weights).toEqual(new Float32Array(train.length).fill(2));
  });

  it('gives hold-outs the weights of samples for metrics, never those of classes', async () => {
    // Two of class a, six of class b: balanced weights 8 / (2 · 2) = 2 and 8 / (2 · 6) = 2/3.
    const rows = 'aabbbbbb'
      .split('')
      .map((name, i) => `${i},${i + 1},${name}`)
      .join('\n');
    const held = async (weights?: string) => {
      const options = { seed: 1, target: 'y', classWeights: 'balanced', weights } as const;
      const { train } = tableSplits(await tableOf(`x,w,y\n${rows}\n`), options);
      const config = runConfigSchema.parse({ members: 2, data: { folds: 2, foldPerRank: true } });
      return withHoldOut({ train }, holdOutOf(config, train));
    };
    const { train, validation } = await held();
    if (validation === undefined) throw new Error('Nothing is held out.');
    expect(targetWeights(validation)).toBeUndefined();
    const ofLoss = gatherBatch(train, Int32Array.of(0, 7)).weights;
    expect(ofLoss).toEqual(Float32Array.of(2, 2 / 3));
    const { validation: weighted } = await held('w');
    const sum = targetWeights(weighted ?? train)?.reduce((all, weight) => all + weight, 0);
    expect(sum).toBe(36);
  });

  describe('by time', () => {
    // Ten days in no order, two rows on the 8th; x is the row.
    const days = [3, 9, 1, 7, 5, 10, 2, 8, 8, 4];
    const byTime = tableOf(
      ['day,x,y', ...days.map((day, row) => `2024-01-${String(day).padStart(2, '0')},${row},${row % 2}`)].join('\n'),
    );
    const timed: TableSplitOptions = { seed: 1, target: 'y', time: 'day', standardize: false };

    it('tests on the latest rows, validates on those before, and learns nothing from the time', async () => {
      const { train, validation, test } = tableSplits(await byTime, { ...timed, validation: 3, test: 0.2 });
      // The 9th and 10th; the 7th and both rows of the 8th; the 1st to the 5th.
      expect([test, validation, train].map((split) => rowsOf(split))).toEqual([
        [1, 5],
        [3, 7, 8],
        [0, 2, 4, 6, 9],
      ]);
    });

    it('keeps rows of one time in one split', async () => {
      // Of the latest three rows, one of the 8th would be tested and the other not.
      const { train, test } = tableSplits(await byTime, { ...timed, test: 3 });
      expect([rowsOf(test), rowsOf(train).length]).toEqual([[1, 5], 8]);
      const twice = await tableOf('day,x,y\n1,1,0\n2,2,1\n2,3,0\n');
      expect(() => tableSplits(twice, { ...timed, test: 1 })).toThrow(
        'the latest time of the test split has more rows than the 1 of the split. Make that split larger.',
      );
    });

    it('has hold-outs in blocks of time', async () => {
      const { train } = tableSplits(await byTime, { ...timed, test: 2 });
      const config = runConfigSchema.parse({ members: 2, data: { folds: 2, foldPerRank: true } });
      const held = holdOutOf(config, train);
      const heldDays = Array.from(held?.rows ?? [], (row) => days[rowsOf(train)[row]]);
      expect(heldDays).toEqual([1, 2, 3, 4, 5, 7, 8, 8]);
    });

    it.each<[what: string, options: Partial<TableSplitOptions>, says: string]>([
      ['groups', { group: 'x' }, 'group cannot decide as well'],
      ['strata', { stratify: true }, 'stratify cannot decide as well'],
      ['folds', { fold: { count: 2, index: 0 } }, 'fold cannot decide as well'],
      ['a time that is none', { time: 'word' }, 'Column "word" of file.csv is to be the time, but holds no dates'],
      ['rows without a time', { time: 'late' }, 'Column "late" of file.csv has no value in row 2.'],
    ])('refuses %s', async (_, options, says) => {
      const table = await tableOf('day,x,y,word,late\n2024-01-01,1,0,a,3\n2024-01-02,2,1,b,\n2024-01-03,3,1,b,4\n');
      expect(refusal(() => tableSplits(table, { ...timed, test: 1, ...options })).join('\n')).toContain(says);
    });
  });

  it('leaves the groups and strata of its rows to those who divide them further', async () => {
    const grouped = tableSplits(await table(), { ...options, test: 0.3 });
    rowsOf(grouped.train).forEach((row, i) => {
      const same = rowsOf(grouped.train).map((other) => other % 7 === row % 7);
      expect(same).toEqual(Array.from(grouped.train.groups ?? [], (group) => group === grouped.train.groups?.[i]));
    });
    const stratified = tableSplits(await tableOf('x,y\n1,a\n2,b\n3,a\n4,b\n'), { seed: 1, stratify: true }).train;
    expect(stratified.strata).toEqual(stratified.targets);
    expect(tableDataset(await tableOf('x,g,y\n1,p,2\n2,q,3\n3,p,4\n'), { group: 'g' }).groups).toEqual(
      Int32Array.of(0, 1, 0),
    );
  });

  it('standardizes values, and says how to convert them back', async () => {
    const values = await tableOf('x,y\n1,10\n2,20\n3,30\n4,40\n');
    const { train, preprocessing } = tableSplits(values, { seed: 1, standardizeTargets: true });
    expect(train.targets[0]).toBeCloseTo(-15 / Math.sqrt(125), 6);
    if (preprocessing === undefined) throw new Error('nothing was fitted');
    expect(fitted(preprocessing).targetValue(train.targets[3])).toBeCloseTo(40, 5);
  });

  it.each<[Partial<TableSplitOptions>, string]>([
    [{}, 'Column "x" of file.csv has no value in row 2. Choose missing:'],
    [
      { missing: 'impute' },
      'Column "y" of file.csv has no value in row 3. Targets, weights, groups, times and splits cannot be imputed',
    ],
    [{ missing: 'drop', test: 5 }, 'a test split of 5 is not possible with 2 rows'],
    [{ missing: 'drop', classWeights: { maybe: 2 } }, 'has no class "maybe": its classes are no, yes'],
    [{ missing: 'drop', stratify: true, group: 'g' }, 'either stratified or grouped'],
    [{ missing: 'drop', fold: { count: 2, index: 2 } }, 'There is no fold 2 of 2'],
    [{ missing: 'drop', group: 'g', fold: { count: 3, index: 2 } }, 'fewer groups than 3 folds'],
  ])('refuses %j', async (change, message) => {
    const gaps = await tableOf('x,y,g\n1,no,a\n,yes,a\n3,,b\n4,yes,b\n');
    expect(() => tableSplits(gaps, { seed: 1, target: 'y', ...change })).toThrow(message);
  });

  it('turns columns of texts into inputs of tokens, fitted on the training split', async () => {
    const rows = ['good film,1,yes', 'bad film,2,no', ',3,no', 'good good book,4,yes'];
    const table = await tableOf(`review,stars,y\n${rows.join('\n')}\n`);
    const text = { review: { length: 2, size: 5 } };
    const own = { seed: 1, missing: 'impute', standardize: false, text } as const;
    const { train, preprocessing } = tableSplits(table, own);
    // The most frequent words: good (3), film (2); of equally frequent ones bad comes first. 0 pads, 1 is unknown.
    expect(train.extraInputs).toEqual({ review: { shape: [2], values: Int32Array.of(2, 3, 4, 3, 0, 0, 2, 2) } });
    expect(train.features).toEqual(Float32Array.of(1, 2, 3, 4));
    if (preprocessing === undefined) throw new Error('nothing was fitted');
    const parsed = preprocessingSchema.parse(JSON.parse(JSON.stringify(preprocessing)));
    const others = await tableOf('review,stars\nthe film,5\n', { columns: columnTypes(parsed) });
    expect(fitted(parsed).features(others)).toEqual(Float32Array.of(5));
    expect(fitted(parsed).extraInputs(others)).toEqual({ review: { shape: [2], values: Int32Array.of(1, 3) } });
  });

  it('has only tokens as features where a table has nothing else', async () => {
    const table = await tableOf('review,y\ngood film,yes\nbad,no\ngood,yes\n', { columns: { review: 'text' } });
    const text = { review: { length: 2, padding: 'start' as const } };
    const { train, preprocessing } = tableSplits(table, { seed: 1, text });
    expect(train.featureShape).toEqual([2]);
    expect([train.features, train.extraInputs]).toEqual([Float32Array.of(2, 4, 0, 3, 0, 2), undefined]);
    if (preprocessing === undefined) throw new Error('nothing was fitted');
    expect(fitted(preprocessing).features(table)).toEqual(train.features);
    expect(fitted(preprocessing).extraInputs(table)).toEqual({});
  });

  it('refuses texts that it cannot use', async () => {
    const table = await tableOf('review,stars,y\ngood,1,yes\n,2,no\n');
    const splits = (text: TableSplitOptions['text']) => () => tableSplits(table, { seed: 1, text });
    expect(splits({ stars: { length: 2 } })).toThrow('"review" of file.csv has no value in row 2');
    const missing = { seed: 1, missing: 'impute' } as const;
    expect(() => tableSplits(table, { ...missing, text: { stars: { length: 2 } } })).toThrow(
      'is to be text, but is of type number',
    );
    expect(() => tableSplits(table, { ...missing, text: { y: { length: 2 } } })).toThrow(
      'it is a target, weight or group',
    );
    expect(() => tableSplits(table, { ...missing, text: { review: { length: 0 } } })).toThrow('a length of 0 tokens');
  });

  it('refuses text as a feature', async () => {
    const texts = Array.from({ length: 101 }, (_, i) => `comment ${i},${i}`);
    const table = await tableOf(`comment,y\n${texts.join('\n')}\n`);
    expect(() => tableSplits(table, { seed: 1 })).toThrow('Column "comment" of file.csv is text');
  });

  it('names all columns that it cannot use in one message, each with what to do', async () => {
    const rows = Array.from({ length: 120 }, (_, i) => `${i % 2},name ${i},${i % 3 ? i : ''},,ticket ${i},1`);
    const table = await tableOf(`y,name,age,empty,ticket,weight\n${rows.join('\n')}\n`);
    const options = { seed: 1, target: 'y' } as const;
    expect(refusal(() => tableSplits(table, options))).toEqual([
      'file.csv: 4 columns cannot be used as they are.',
      expect.stringMatching(/^- Column "name" of file\.csv is text.*"name": 'ignore'/),
      expect.stringMatching(/^- Column "age" of file\.csv has no value in 40 of 120 rows, first in row 1\..*'impute'/),
      expect.stringMatching(/^- Column "empty" of file\.csv has no value.*type ignore/),
      expect.stringMatching(/^- Column "ticket" of file\.csv is text/),
    ]);
    const text = { name: { length: 4 }, ticket: { length: 4 } };
    expect(refusal(() => tableSplits(table, { ...options, missing: 'impute', text }))).toEqual([
      expect.stringMatching(/^Column "empty" of file\.csv has no value/),
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnMoments, MomentsInParts } from '../../../workers/data/column-moments.ts';
import { createDataset, createSplits, gatherBatch } from '../../../workers/data/dataset.ts';
import { fitTokenizer } from '../../../workers/data/index.ts';
import { withNotes } from '../../../workers/data/notes.ts';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';
import { createSourceDataset } from '../../../workers/data/streams/source-dataset.ts';
import { preprocessingOf, standardize, standardizeOnDisk } from '../../../workers/data/standardize.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Recorded {
  versions: Record<string, string>;
  cases: { kind: string; rows: number; mean: number; scale: number }[];
}

const recorded = readGolden('standard-scaler/standard-scaler.json') as Recorded;

describe('standardize', () => {
  const part = (features: number[], targets: number[]) =>
    createDataset({
      name: 'part',
      featureShape: [2],
      features: Float32Array.from(features),
      targets: Float32Array.from(targets),
    });
  // Column 0: 1, 3 (mean 2, deviation 1). Column 1 is constant. Targets 10, 30 (mean 20, deviation 10).
  const splits = { train: part([1, 5, 3, 5], [10, 30]), test: part([6, 6], [50]) };

  it('uses means and deviations of the training split for all splits', () => {
    const { splits: result, targetScale } = standardize(splits);
    expect(gatherBatch(result.train, Int32Array.of(0, 1)).features).toEqual(Float32Array.of(-1, 0, 1, 0));
    expect(result.test && gatherBatch(result.test, Int32Array.of(0)).features).toEqual(Float32Array.of(4, 1));
    expect(result.train.targets).toEqual(Float32Array.of(10, 30));
    expect(targetScale).toBeUndefined();
  });

  it('standardizes targets on request and returns the inverse transformation', () => {
    const { splits: result, targetScale } = standardize(splits, { targets: true });
    expect(result.train.targets).toEqual(Float32Array.of(-1, 1));
    expect(result.test?.targets).toEqual(Float32Array.of(3));
    expect(targetScale).toEqual({ mean: [20], std: [10] });
    expect(result.preprocessing?.target).toEqual({ kind: 'values', columns: ['target 1'], mean: [20], std: [10] });
    expect(splits.train.targets).toEqual(Float32Array.of(10, 30));
  });

  it('notes targets that float32 has rounded, and tables keep them in float64', async () => {
    const far = { train: part([1, 5, 3, 5], [1e8, 1e8 + 8]) };
    const { notes } = await withNotes(() => Promise.resolve(standardize(far, { targets: true })));
    expect(notes).toEqual([
      'The target "1" of "part" has the mean 100000004 and the standard deviation 4: as float32 it is rounded ' +
        'to steps of about 8. Subtract the mean before, ' +
        'or read a table with tableSplits(table, { standardizeTargets: true }).',
    ]);
    const table = await parseTable(Buffer.from('x,y\n1,100000000\n2,100000001\n3,100000002\n'), 'far.csv');
    const read = (standardizeTargets: boolean) =>
      withNotes(() => Promise.resolve(tableSplits(table, { seed: 1, standardizeTargets })));
    const rounded = await read(false);
    expect(rounded.notes).toEqual([expect.stringContaining('The target "y" of "far.csv" has the mean 100000001')]);
    const exact = await read(true);
    expect([...exact.result.train.targets]).toEqual(
      [-1, 0, 1].map((value) => expect.closeTo(value / Math.sqrt(2 / 3), 6)),
    );
    expect(exact.notes).toEqual([]);
    const constant = { train: part([1, 5, 3, 5], [1e8, 1e8]) };
    expect((await withNotes(() => Promise.resolve(standardize(constant, { targets: true })))).notes).toEqual([]);
  });

  it('measures bytes as scaled in batches', () => {
    const bytes = createDataset({
      name: 'bytes',
      featureShape: [1],
      features: Uint8Array.of(0, 255),
      targets: Int32Array.of(0, 1),
    });
    expect(standardize({ train: bytes }).splits.train.normalization).toEqual({ mean: [0.5], std: [0.5] });
    expect(() => standardize({ train: bytes }, { targets: true })).toThrow('are class labels');
  });

  it('standardizes every split, including one without labels', () => {
    const train = part([1, 5, 3, 5], [10, 30]);
    const { splits: result } = standardize({ train, validation: train, test: train, unlabelled: part([5, 5], [0]) });
    expect(Object.keys(result).sort()).toEqual(['preprocessing', 'test', 'train', 'unlabelled', 'validation']);
    const step = { kind: 'standardize', mean: result.train.normalization?.mean, std: result.train.normalization?.std };
    expect(result.preprocessing).toEqual({ format: 1, steps: [step] });
    expect(result.unlabelled && gatherBatch(result.unlabelled, Int32Array.of(0)).features).toEqual(
      Float32Array.of(3, 0),
    );
  });

  it('only centres constant columns, whatever their value and number of rows', () => {
    fc.assert(
      fc.property(
        fc.float({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 1, max: 400 }),
        fc.boolean(),
        (value, rows, isByte) => {
          const features = isByte ? new Uint8Array(rows).fill(value) : new Float32Array(rows).fill(value);
          const train = createDataset({ name: 'c', featureShape: [1], features, targets: new Int32Array(rows) });
          expect(standardize({ train }).splits.train.normalization?.std).toEqual([1]);
          expect(gatherBatch(standardize({ train }).splits.train, Int32Array.of(0)).features[0]).toBe(0);
        },
      ),
      {
        seed: 3,
        examples: [
          [Math.fround(0.1), 3, false],
          [Math.fround(0.1), 10, false],
          [255, 7, true],
        ],
      },
    );
  });

  it.each([
    ['feature', 2, NaN],
    ['target', 1, Infinity],
  ])('names the %s column %i and the row of a value that is %d', (kind, column, value) => {
    const features = Float32Array.of(1, 2, 3, 4, 5, 6);
    const targets = Float32Array.of(1, 2, 3, 4);
    (kind === 'feature' ? features : targets)[kind === 'feature' ? 5 : 3] = value;
    const train = createDataset({ name: 'gaps', featureShape: [3], features, targets });
    expect(() => standardize({ train }, { targets: true })).toThrow(
      `Data set "gaps": ${kind} column ${column} has ${value} in row 1`,
    );
  });
});

describe(`columnMoments against scikit-learn ${recorded.versions['scikit-learn']}`, () => {
  it.each(recorded.cases)('$kind, $rows rows', ({ kind, rows, mean, scale }) => {
    const moments = columnMoments({ name: kind, kind: 'feature', values: columnOf(kind, rows), count: 1 });
    expect(relativeError(moments.mean[0], mean)).toBeLessThan(1e-14);
    expect(relativeError(moments.std[0], scale)).toBeLessThan(1e-12);
  });
});

/** The columns of make_standard_scaler.py. */
function columnOf(kind: string, rows: number): Float32Array {
  const pattern = (i: number) => (i * 7919) % 1009;
  const formulas: Record<string, (i: number) => number> = {
    'constant 0.1': () => 0.1,
    'constant 1/3': () => 1 / 3,
    'constant 1e20': () => 1e20,
    'constant -7e-20': () => -7e-20,
    'constant 0': () => 0,
    pattern,
    'far from 0': (i) => 1e6 + pattern(i) / 16,
    'farther from 0': (i) => 16_000_000 + (pattern(i) % 2),
    'small values': (i) => pattern(i) * 1e-12,
    'two values': (i) => (i % 2) * 2 - 1,
    'one outlier': (i) => Number(i === rows - 1),
  };
  return Float32Array.from({ length: rows }, (_, i) => formulas[kind](i));
}

function relativeError(value: number, expected: number): number {
  return value === expected ? 0 : Math.abs(value - expected) / Math.abs(expected);
}

describe('moments in parts', () => {
  it('are those of all rows', () => {
    const draws = fc.record({
      parts: fc.array(fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 9 }), {
        minLength: 1,
        maxLength: 5,
      }),
      far: fc.constantFrom(0, 1e6),
    });
    fc.assert(
      fc.property(draws, ({ parts, far }) => {
        const about = { name: 'parts', kind: 'feature', count: 2 };
        // The second column is constant.
        const columnsOf = (values: number[]) => values.flatMap((value) => [value + far, 7]);
        const moments = new MomentsInParts();
        for (const part of parts) moments.add({ ...about, values: columnsOf(part) });
        const whole = columnMoments({ ...about, values: columnsOf(parts.flat()) });
        const found = moments.moments;
        expect(found.isConstant).toEqual(whole.isConstant);
        found.mean.forEach((mean, i) => expect(mean).toBeCloseTo(whole.mean[i], 8));
        found.std.forEach((std, i) => expect(std).toBeCloseTo(whole.std[i], 8));
      }),
      { seed: 8, numRuns: 200 },
    );
  });

  it('name the row of a value that is not finite', () => {
    const moments = new MomentsInParts();
    moments.add({ name: 'parts', kind: 'feature', count: 1, values: [1, 2] });
    expect(() => moments.add({ name: 'parts', kind: 'feature', count: 1, values: [3, Number.NaN] })).toThrow(
      'feature column 0 has NaN in row 3',
    );
  });

  it('standardize samples on disk as in memory', async () => {
    const values = Uint8Array.from({ length: 2 * 700 }, (_, i) => (i * 37) % 251);
    const targets = Float32Array.from({ length: 700 }, (_, i) => i);
    const inMemory = createDataset({ name: 'bytes', featureShape: [2], features: values, targets });
    const train = createSourceDataset({
      name: 'bytes',
      targets,
      source: {
        length: 700,
        featureShape: [2],
        type: 'uint8',
        read: async (rows) => Uint8Array.from([...rows].flatMap((row) => [values[2 * row], values[2 * row + 1]])),
      },
    });
    const found = await standardizeOnDisk({ train }, { targets: true });
    const expected = standardize({ train: inMemory }, { targets: true });
    expect(found.targetScale).toEqual(expected.targetScale);
    expect(found.splits.train.source?.length).toBe(700);
    const scales = [found, expected].map(({ splits }) => splits.train.normalization);
    for (const part of ['mean', 'std'] as const) {
      scales[0]?.[part].forEach((value, i) => expect(value).toBeCloseTo(scales[1]?.[part][i] ?? Number.NaN, 12));
    }
    expect(await standardizeOnDisk({ train: inMemory })).toEqual(standardize({ train: inMemory }));
  });
});

describe('what a run keeps of its further inputs', () => {
  const context = { shape: [1], values: Float32Array.of(5, 6) };
  const train = createDataset({
    name: 'two',
    featureShape: [1],
    features: Float32Array.of(0, 2),
    targets: Float32Array.of(1, 2),
    extraInputs: { context },
  });

  it('is their names, beside what was fitted', () => {
    const { splits } = standardize(createSplits({ train }));
    expect(preprocessingOf(splits)).toEqual({
      format: 1,
      steps: [{ kind: 'standardize', mean: [1], std: [1] }],
      extraInputs: ['context'],
    });
  });

  it('is nothing where nothing was fitted, and no name that a column of texts has', () => {
    expect(preprocessingOf(createSplits({ train }))).toBeNull();
    const column = { name: 'words', tokenizer: fitTokenizer(['a']).data, length: 1, padding: 'end' as const };
    const texts = { kind: 'texts' as const, columns: [{ ...column, impute: false, input: 'context' }] };
    const kept = { format: 1 as const, steps: [texts] };
    expect(preprocessingOf(createSplits({ train, preprocessing: kept }))).toEqual(kept);
  });
});

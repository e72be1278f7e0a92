import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { withNotes } from '../../../workers/data/notes.ts';
import { parseTable, readTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';
import { openEnsemble } from '../../../workers/inference/open-ensemble.ts';
import { predictFile } from '../../../workers/inference/predict-file.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { runWithModels } from './run-with-models.ts';

beforeAll(() => startBackend('cpu'));

/** Logits of two classes: [x₀, x₁] and [x₁, x₀]. */
function twoClasses() {
  const kernels = [
    [1, 0, 0, 1],
    [0, 1, 1, 0],
  ];
  const models = kernels.map((kernel) => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, useBias: false, inputShape: [2] })] });
    model.setWeights([tf.tensor2d(kernel, [2, 2])]);
    return model;
  });
  const step = {
    kind: 'table' as const,
    columns: ['x', 'y'].map((name) => ({
      name,
      type: 'number' as const,
      impute: null,
      mean: 0,
      std: 1,
      smallest: -50,
      largest: 50,
    })),
  };
  const target = { kind: 'classes' as const, column: 'z', classNames: ['=no', 'yes, or'] };
  return runWithModels(models, { task: 'classification', preprocessing: { format: 1, steps: [step], target } });
}

describe('predictions of a file', () => {
  it('are written as CSV with the classes of the data, as JSON lines and as Parquet', async () => {
    const folder = await twoClasses();
    const input = join(folder, 'new.csv');
    // Both members' logits differ by log 3: 3/4 against 1/4, and the other way round.
    await writeFile(input, `y,x\n0,${Math.log(3)}\n0,0\n`);
    const ensemble = await openEnsemble(folder);
    const outputs = ['csv', 'jsonl', 'parquet'] as const;
    for (const format of outputs) {
      const output = join(folder, `out.${format}`);
      expect(await predictFile(ensemble, { input, output, format, withMembers: true })).toBe(2);
    }
    const csv = (await readFile(join(folder, 'out.csv'), 'utf8')).split('\n');
    expect(csv[0]).toBe(
      'row,class,probability_=no,"probability_yes, ' +
        'or",entropy,mutual_information,member_0_probability_=no,"member_0_probability_yes, or",member_1_probability_=no,"member_1_probability_yes, or",warnings',
    );
    expect(csv[1]).toMatch(/^0,=no,0\.5,0\.5,0\.69314718\d*,0\.130812\d*,0\.75,0\.25,0\.25,0\.75,$/);
    const [first] = (await readFile(join(folder, 'out.jsonl'), 'utf8')).split('\n');
    expect(JSON.parse(first)).toMatchObject({ class: '=no', 'probability_=no': 0.5 });
    const { columns } = await readTable(join(folder, 'out.parquet'));
    expect(columns.find(({ name }) => name === 'member_0_probability_=no')?.values).toEqual(Float64Array.of(0.75, 0.5));
  });

  it('have each score of how unlike the training data a sample is', async () => {
    const folder = await twoClasses();
    const input = join(folder, 'new.csv');
    await writeFile(input, `y,x\n0,${Math.log(3)}\n`);
    const output = join(folder, 'scores.jsonl');
    const ensemble = await openEnsemble(folder);
    await predictFile(ensemble, { input, output, format: 'jsonl', withMembers: false, withScores: true });
    const row = JSON.parse(await readFile(output, 'utf8')) as Record<string, number>;
    // Members give [3/4, 1/4] and [1/4, 3/4]; the means of their centred logits are 0.
    const ofMember = -0.75 * Math.log(0.75) - 0.25 * Math.log(0.25);
    const expected = {
      outside_entropy: Math.log(2),
      outside_mutual_information: Math.log(2) - ofMember,
      outside_energy: -Math.log(2),
      outside_max_logit: 0,
      outside_variance: 2 * 0.25 ** 2,
    };
    const scores = Object.entries(row).filter(([name]) => name.startsWith('outside'));
    expect(scores.map(([name]) => name)).toEqual(Object.keys(expected));
    for (const [name, value] of Object.entries(expected)) expect(row[name], name).toBeCloseTo(value, 6);
  });

  it('of images are strict about what does not fit, not about what is said of their files', async () => {
    const model = tf.sequential({
      layers: [tf.layers.flatten({ inputShape: [1, 1, 1] }), tf.layers.dense({ units: 1 })],
    });
    const step = { kind: 'images' as const, height: 1, width: 1, channels: 1 as const, fit: 'contain' as const };
    const preprocessing = { format: 1 as const, steps: [step] };
    const folder = await runWithModels([model], { task: 'regression', preprocessing });
    const input = join(folder, 'pictures');
    await mkdir(input);
    // White, in 16 bits: the note says how these become 8.
    const white = Buffer.from(Uint16Array.of(65_535).buffer);
    const image = { width: 1, height: 1, channels: 1 as const, depth: 'ushort' as const };
    await sharp(white, { raw: image }).toColourspace('grey16').png().toFile(join(input, 'white.png'));
    const options = { input, output: join(folder, 'out.csv'), format: 'csv' as const, withMembers: false };
    const ensemble = await openEnsemble(folder);
    const found = await withNotes(() => predictFile(ensemble, { ...options, isStrict: true }));
    expect(found.result).toBe(1);
    expect(found.notes).toEqual([expect.stringContaining('more than 8 bits a value: 1 of 1')]);
  });

  it('come from arrays too, of which one holds the features', async () => {
    const folder = await twoClasses();
    const features = { name: 'x', dtype: 'F32' as const, shape: [1, 2], data: Float32Array.of(Math.log(3), 0) };
    const input = join(folder, 'new.safetensors');
    await writeFile(input, encodeSafetensors([features]));
    const ensemble = await openEnsemble(folder);
    const options = { input, output: join(folder, 'out.jsonl'), format: 'jsonl' as const, withMembers: false };
    expect(await predictFile(ensemble, options)).toBe(1);
    await writeFile(input, encodeSafetensors([features, { ...features, name: 'y' }]));
    await expect(predictFile(ensemble, options)).rejects.toThrow('Name the one with the features "features"');
  });

  it('leave no file where an error stops them, before and after the first block', async () => {
    const folder = await twoClasses();
    const ensemble = await openEnsemble(folder);
    const input = join(folder, 'new.csv');
    const stops = {
      'x,z\n1,2\n': undefined,
      'x,y\n1,2\n': () => {
        throw new Error('stopped after a block');
      },
    };
    for (const [text, progress] of Object.entries(stops)) {
      await writeFile(input, text);
      for (const format of ['csv', 'jsonl', 'parquet'] as const) {
        const output = join(folder, `stopped.${format}`);
        const options = { input, output, format, withMembers: false, ...(progress && { progress }) };
        await expect(predictFile(ensemble, options)).rejects.toThrow(/no column "y"|stopped after a block/);
        expect(existsSync(output)).toBe(false);
      }
    }
  });

  it('name a table that has other columns, and a folder where the run kept no images', async () => {
    const folder = await twoClasses();
    const ensemble = await openEnsemble(folder);
    const options = { output: join(folder, 'out.csv'), format: 'csv' as const, withMembers: false };
    await writeFile(join(folder, 'new.csv'), 'x,z\n1,2\n');
    await expect(predictFile(ensemble, { ...options, input: join(folder, 'new.csv') })).rejects.toThrow(
      'no column "y"',
    );
    await expect(predictFile(ensemble, { ...options, input: folder })).rejects.toThrow(
      'the run kept no size of images',
    );
  });
});

describe('a table of a run that kept no step for it', () => {
  const written = async (folder: string, text: string) => {
    const input = join(folder, 'new.csv');
    await writeFile(input, text);
    return { input, output: join(folder, 'out.csv'), format: 'csv' as const, withMembers: false };
  };
  const sum = (size: number) => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [size] })] });
    model.setWeights([
      tf.tensor2d(
        Array.from({ length: size }, (_, i) => 10 ** i),
        [size, 1],
      ),
    ]);
    return model;
  };
  const opened = async (preprocessing?: Preprocessing) => {
    const folder = await runWithModels([sum(3)], { task: 'regression', ...(preprocessing && { preprocessing }) });
    return { folder, ensemble: await openEnsemble(folder) };
  };

  it('has exactly one column of numbers for each feature', async () => {
    const { folder, ensemble } = await opened();
    const predict = async (text: string) => predictFile(ensemble, await written(folder, text));
    // Three rows of four columns are four samples of three.
    const four = 'a,b,c,price\n1,2,3,9\n1,2,3,9\n1,2,3,9\n';
    await expect(predict(four)).rejects.toThrow('new.csv has 4 columns for 3 features: "price" is too many');
    await expect(predict('a,b\n1,2\n1,2\n1,2\n')).rejects.toThrow(
      'has 2 columns for 3 features: 1 are missing after "a", "b"',
    );
    await expect(predict('a,b\n1,2\n')).rejects.toThrow('no names of features (featureNames of its data sets)');
    await expect(predict('when,a,b\n2026-01-31,1,2\n')).rejects.toThrow('Column "when" of new.csv has dates');
    expect(await predict('a,b,c\n1,2,3\n')).toBe(1);
    const rows = [
      { a: 1, b: 2, c: 3 },
      { a: 1, b: 2, c: 3, price: 4 },
    ];
    await expect(ensemble.predict({ rows })).rejects.toThrow('rows has 4 columns for 3 features');
    await expect(ensemble.predict({ values: new Float32Array(12), shape: [4] })).rejects.toThrow('have the shape [4]');
  });

  it('is not cut into samples where its rows are steps of a series', async () => {
    const model = tf.sequential({ layers: [tf.layers.flatten({ inputShape: [4, 1] }), tf.layers.dense({ units: 1 })] });
    const folder = await runWithModels([model], { task: 'regression' });
    const ensemble = await openEnsemble(folder);
    const steps = 'day,load\n2026-01-01,5\n2026-01-02,6\n2026-01-03,7\n2026-01-04,8\n';
    await expect(predictFile(ensemble, await written(folder, steps))).rejects.toThrow(
      'new.csv has 2 columns for 4 features (shape [4, 1])',
    );
  });

  it('gives an answer for each series, by its name and the time of its last step', async () => {
    const model = tf.sequential({ layers: [tf.layers.flatten({ inputShape: [2, 1] }), tf.layers.dense({ units: 1 })] });
    model.setWeights([tf.tensor2d([1, 10], [2, 1]), tf.tensor1d([0])]);
    const step = {
      kind: 'series' as const,
      columns: [{ name: 'load', type: 'number' as const }],
      length: 2,
      time: { name: 'day', type: 'date' as const },
      entity: { name: 'place', type: 'category' as const },
      gaps: null,
    };
    const folder = await runWithModels([model], { task: 'regression', preprocessing: { format: 1, steps: [step] } });
    const ensemble = await openEnsemble(folder);
    const rows = [
      { day: '2026-01-02', place: 'north', load: 2 },
      { day: '2026-01-01', place: 'south', load: 5 },
      { day: '2026-01-01', place: 'north', load: 1 },
      { day: '2026-01-02', place: 'south', load: 7 },
      { day: '2026-01-03', place: 'north', load: 3 },
    ];
    const { mean, places } = await ensemble.predict({ rows });
    // 2 + 10 · 3, and 5 + 10 · 7.
    expect([...mean]).toEqual([32, 75]);
    expect(places.map(({ name, values }) => [name, ...values])).toEqual([
      ['place', 'north', 'south'],
      ['after day', '2026-01-03', '2026-01-02'],
    ]);
    expect((await ensemble.predict({ values: Float32Array.of(1, 2) })).places).toEqual([]);
    await expect(ensemble.predict({ rows: rows.slice(0, 3) })).rejects.toThrow(
      'rows: 1 of 2 series have less than the 2 steps of a sample, without a gap among them. Leave out these series',
    );
  });

  it('has its columns by the names of the features, in any order', async () => {
    const { folder, ensemble } = await opened({ format: 1, steps: [], featureNames: ['a', 'b', 'c'] });
    const options = await written(folder, 'price,c,b,a\n9,3,2,1\n');
    expect(await predictFile(ensemble, options)).toBe(1);
    expect(await readFile(options.output, 'utf8')).toContain('\n0,321,');
    expect([...(await ensemble.predict({ rows: [{ c: 3, a: 1, b: 2 }] })).mean]).toEqual([321]);
    await expect(predictFile(ensemble, await written(folder, 'a,b,d\n1,2,3\n'))).rejects.toThrow(
      'new.csv has no column "c", which is a feature of the training data',
    );
    // Without names, the order is that of training.
    expect(await predictFile(ensemble, await written(folder, '1,2,3\n'))).toBe(1);
    expect(await readFile(options.output, 'utf8')).toContain('\n0,321,');
  });
});

describe('a table of a run with categories', () => {
  /** Trained on sizes of 1.5, 2.5 and a missing one, of which the median is 2, and the codes 1, 2 and 2. */
  const trained = async () => {
    // zip 1, zip 2, size, and whether the size was missing.
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [4] })] });
    model.setWeights([tf.tensor2d([1, 10, 100, 0], [4, 1])]);
    const text = 'zip,size,y\n1,"1,5",1\n2,-999,2\n2,"2,5",3\n';
    const training = await parseTable(Buffer.from(text), 'training.csv', {
      columns: { zip: 'category' },
      missingValues: ['', '-999'],
    });
    const { preprocessing } = tableSplits(training, { seed: 1, missing: 'impute', standardize: false });
    if (preprocessing === undefined) throw new Error('nothing was fitted');
    const folder = await runWithModels([model], { task: 'regression', preprocessing });
    return { folder, ensemble: await openEnsemble(folder) };
  };

  it('is read as in training, and values that training lacks are counted', async () => {
    const { folder, ensemble } = await trained();
    const input = join(folder, 'new.csv');
    const output = join(folder, 'out.csv');
    await writeFile(input, 'size,zip\n"0,5",1.0\n-999,2\n,\n"1,5",9\n"1,5",9\n');
    const options = { input, output, format: 'csv' as const, withMembers: false };
    const { result, notes } = await withNotes(() => predictFile(ensemble, options));
    expect(result).toBe(4);
    const lines = (await readFile(output, 'utf8')).trim().split('\n').slice(1);
    // The median of the sizes is 2; the third row has no value.
    const numbersAt = (place: number) => lines.map((line) => Number(line.split(',')[place]));
    expect(numbersAt(0)).toEqual([0, 1, 3, 4]);
    expect(numbersAt(1)).toEqual([51, 210, 150, 150]);
    // The sizes of training are 1.5 and 2.5.
    const misfits = ['outside size', 'missing size', 'unseen zip', 'unseen zip'];
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(misfits);
    for (const format of ['jsonl', 'parquet'] as const) {
      const other = { ...options, output: join(folder, `out.${format}`), format };
      await withNotes(() => predictFile(ensemble, other));
      const { columns } = await readTable(other.output, { columns: { warnings: 'text' } });
      expect(columns.at(-1)).toMatchObject({ name: 'warnings', values: misfits });
    }
    const refused = { ...options, output: join(folder, 'refused.csv'), isStrict: true };
    await expect(predictFile(ensemble, refused)).rejects.toThrow(
      /does not fit the training data:\n- 1 rows without any value.*\n- Of 4 rows.*\n- .*"zip".*\n- .*"size": 1 of 4.*\n.*--strict/,
    );
    expect(existsSync(refused.output)).toBe(false);
    expect(notes).toEqual([
      '1 rows without any value are left out: they have no line among the predictions.',
      'Of 4 rows, these have no value in a column: "size" 1. They count as the value that training put for ' +
        'missing ones (preprocessing.json, impute).',
      'Column "zip": 2 of 4 rows have values that the training data lack ("9" 2). They count ' +
        'as none of its categories.',
      'Column "size": 1 of 4 rows have values outside the range of the training data, 1.5 to 2.5 (0.5). The models ' +
        'did not learn from such values.',
    ]);
    const rows = [
      { zip: 1, size: '0,5' },
      { zip: '2.0', size: '-999' },
    ];
    const found = await ensemble.predict({ rows });
    expect([...found.mean]).toEqual([51, 210]);
    const none = { mistyped: 0, mistypedValues: [] };
    const size = {
      column: 'size',
      missing: 0,
      ...none,
      unseen: 0,
      unseenValues: [],
      outside: 1,
      outsideValues: ['0.5'],
    };
    expect(found.warnings).toEqual([{ ...size, rows: 2, missing: 1 }]);
    const others = [8, 9, 7, 9, 9, 8, 6, 5].map((zip) => ({ zip, size: '0,5' }));
    const unseenValues = [9, 8, 7].map((zip, i) => ({ value: String(zip), count: 3 - i }));
    const zip = { column: 'zip', rows: 9, missing: 0, ...none, unseen: 8, unseenValues, outside: 0, outsideValues: [] };
    const mixed = await ensemble.predict({ rows: [{ zip: '1', size: '0,5' }, ...others] });
    expect(mixed.warnings).toEqual([zip, { ...size, rows: 9, outside: 9 }]);
    expect((await ensemble.predict({ prepared: new Float32Array(4) })).warnings).toEqual([]);
  });

  it('may lack columns and hold other types, which count as missing and are said', async () => {
    const { folder, ensemble } = await trained();
    const predict = async (text: string, isStrict = false) => {
      const [input, output] = ['new.csv', 'out.jsonl'].map((name) => join(folder, name));
      await writeFile(input, text);
      const options = { input, output, format: 'jsonl' as const, withMembers: false, isStrict };
      const { notes } = await withNotes(() => predictFile(ensemble, options));
      const lines = (await readFile(output, 'utf8')).trim().split('\n');
      const rows = lines.map((line) => JSON.parse(line) as { mean: number; warnings: string });
      return { notes, rows: rows.map(({ mean, warnings }) => [mean, warnings]) };
    };
    const imputed = 'They count as the value that training put for missing ones (preprocessing.json, impute).';
    expect(await predict('zip,Size\n1,7\n9,7\n')).toEqual({
      rows: [
        [201, 'missing size'],
        [200, 'unseen zip; missing size'],
      ],
      notes: [
        `Column "size" is absent (there is "Size"): 2 of 2 rows have no value for it. ${imputed}`,
        expect.stringContaining('Column "zip": 1 of 2 rows have values that the training data lack'),
      ],
    });
    const typed = 'zip,size\n1,about 2\n2,"1,5"\n1,about 2\n2,n/a\n';
    expect(await predict(typed)).toEqual({
      rows: [
        [201, 'mistyped size'],
        [160, ''],
        [201, 'mistyped size'],
        [210, 'mistyped size'],
      ],
      notes: [
        'Column "size": 3 of 4 rows have a value that is no number ("about 2" 2, "n/a" 1). They count as missing.',
      ],
    });
    await expect(predict(typed, true)).rejects.toThrow(/does not fit the training data:\n- Column "size": 3 of 4/);
    await expect(predict('postcode,area\n1,2\n')).rejects.toThrow('new.csv has no column "zip"');
    const rows = [{ zip: 1, size: 'about 2' }, { zip: 2 }];
    const found = await ensemble.predict({ rows });
    expect([...found.mean]).toEqual([201, 210]);
    expect(found.warnings).toMatchObject([{ column: 'size', rows: 2, missing: 1, mistyped: 1 }]);
    expect([...(await ensemble.predict({ rows: [{ zip: 1 }] })).mean]).toEqual([201]);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { readTable } from '../../../workers/data/tables/read-table.ts';
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
    columns: ['x', 'y'].map((name) => ({ name, type: 'number' as const, impute: null, mean: 0, std: 1 })),
  };
  const target = { kind: 'classes' as const, column: 'z', classNames: ['=no', 'yes, or'] };
  return runWithModels(models, { task: 'classification', preprocessing: { format: 1, steps: [step], target } });
}

describe('predictions of a file', () => {
  it('are written as CSV without formulas, as JSON lines and as Parquet', async () => {
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
      'class,probability_=no,"probability_yes, or",entropy,mutual_information,member_0_probability_=no,"member_0_probability_yes, or",member_1_probability_=no,"member_1_probability_yes, or"',
    );
    expect(csv[1]).toMatch(/^'=no,0\.5,0\.5,0\.69314718\d*,0\.130812\d*,0\.75,0\.25,0\.25,0\.75$/);
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

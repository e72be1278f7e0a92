import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { calibratedSet } from '../postprocessing/recorded-file.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runWithModels } from './run-with-models.ts';

beforeAll(() => startBackend('cpu'));

/** y = a · x₀ + b · x₁. */
function linear(a: number, b: number) {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [2] })] });
  model.setWeights([tf.tensor2d([a, b], [2, 1])]);
  return model;
}

const table: Preprocessing = {
  format: 1,
  steps: [
    {
      kind: 'table',
      columns: [
        {
          name: 'size',
          type: 'number',
          impute: { value: 5, indicator: false },
          mean: 1,
          std: 2,
          smallest: -50,
          largest: 50,
        },
        { name: 'sold', type: 'boolean', impute: null, mean: 0, std: 1, smallest: 0, largest: 1 },
      ],
    },
  ],
  target: { kind: 'values', columns: ['price'], mean: [100], std: [10] },
};

const run = (changes = {}) =>
  runWithModels([linear(1, 2), linear(3, 2)], { task: 'regression', preprocessing: table, ...changes });

describe('an opened ensemble', () => {
  it('predicts rows as they are, in the unit of the targets', async () => {
    const ensemble = await openEnsemble(await run());
    // Features [(3 − 1)/2, 1] and, with the imputed size, [(5 − 1)/2, 0].
    const found = await ensemble.predict({ rows: [{ size: 3, sold: true }, { sold: 'false' }] });
    expect([...found.members]).toEqual([130, 120, 150, 160]);
    expect([...found.mean]).toEqual([140, 140]);
    expect(found.kind === 'values' && [...found.epistemic]).toEqual([10, 20]);
    expect(ensemble.description).toMatchObject({ set: 'ensemble-best', task: 'regression', combination: 'mean' });
    ensemble.dispose();
  });

  it('predicts more samples than a batch holds, prepared or raw', async () => {
    const ensemble = await openEnsemble(
      await run({ preprocessing: { format: 1, steps: [{ kind: 'standardize', mean: [1, 0], std: [2, 1] }] } }),
    );
    const prepared = Float32Array.from({ length: 2 * 1100 }, (_, i) => i % 7);
    const expected = Array.from({ length: 1100 }, (_, n) => 2 * prepared[2 * n] + 2 * prepared[2 * n + 1]);
    expect([...(await ensemble.predict({ prepared })).mean]).toEqual(expected);
    const values = prepared.map((value, i) => (i % 2 === 0 ? 1 + 2 * value : value));
    expect([...(await ensemble.predict({ values })).mean]).toEqual(expected);
    await expect(ensemble.predict({ values: new Float32Array(3) })).rejects.toThrow(
      '3 values are not one or more samples',
    );
  });

  it('takes samples of any length where the models do, and of no other shape', async () => {
    const model = tf.sequential({ layers: [tf.layers.globalAveragePooling1d({ inputShape: [null, 2] })] });
    const ensemble = await openEnsemble(await runWithModels([model], { task: 'multi-label' }));
    const predict = (shape: number[]) => ensemble.outputs({ prepared: Float32Array.of(1, 2, 3, 4, 5, 9), shape });
    // Of three steps, and of one.
    expect((await predict([3, 2])).samples).toBe(1);
    expect((await predict([1, 2])).samples).toBe(3);
    for (const shape of [[2, 3], [3], [2, 1, 3]]) {
      await expect(predict(shape)).rejects.toThrow(
        `The samples have the shape [${shape.join(', ')}], the model takes [any, 2].`,
      );
    }
  });

  it('names a column that rows lack, and a value that does not fit', async () => {
    const ensemble = await openEnsemble(await run());
    await expect(ensemble.predict({ rows: [{ size: 1 }] })).rejects.toThrow('rows has no column "sold"');
    await expect(ensemble.predict({ rows: [{ size: 1, sold: 'maybe' }] })).rejects.toThrow('"maybe" is not true');
  });

  it('takes further inputs by their names', async () => {
    const inputs = ['x', 'y'].map((name) => tf.input({ shape: [1], name }));
    const sum = tf.layers.add().apply(inputs) as SymbolicTensor;
    const folder = await runWithModels([tf.model({ inputs, outputs: sum })], { task: 'regression' });
    const ensemble = await openEnsemble(folder);
    const extraInputs = { y: { shape: [1], values: Float32Array.of(10, 20) } };
    expect([...(await ensemble.predict({ prepared: Float32Array.of(1, 2), extraInputs })).mean]).toEqual([11, 22]);
    await expect(ensemble.predict({ prepared: Float32Array.of(1, 2) })).rejects.toThrow('the inputs x, y');
  });
});

describe('sets and files', () => {
  it('opens what was exported, and only that', async () => {
    const folder = await run({ set: 'final' });
    const to = join(await temporaryFolder(), 'out');
    const { paths } = await exportRun(folder, { to, zip: false, formats: ['ensemble'] });
    expect(paths.filter((path) => !path.startsWith('models/')).sort()).toEqual([
      'checkpoints/rank-0/final.json',
      'checkpoints/rank-0/final.safetensors',
      'checkpoints/rank-1/final.json',
      'checkpoints/rank-1/final.safetensors',
      'ensemble.json',
      'preprocessing.json',
    ]);
    const found = await (await openEnsemble(to)).predict({ rows: [{ size: 3, sold: true }] });
    expect([...found.mean]).toEqual([140]);
    await expect(openEnsemble(to, { set: 'ensemble-best' })).rejects.toThrow('holds the set final alone');
  });

  it('names the remedy for what was fitted for others: of exported files another than of a run', async () => {
    const folder = await run({ set: 'final' });
    const fitted = { ...calibratedSet, task: 'regression', calibration: null, conformal: null, measured: null };
    const path = 'postprocessing/final.json';
    await mkdir(join(folder, 'postprocessing'));
    const write = (into: string, change: object) =>
      writeFile(join(into, path), JSON.stringify({ ...fitted, outside: null, selective: null, ...change }));
    const members = [0, 1].map((rank) => ({ rank, checkpoint: 'final', epoch: 3 }));
    await write(folder, { set: { name: 'final', members } });
    const to = join(await temporaryFolder(), 'out');
    await exportRun(folder, { to, zip: false, formats: ['ensemble'] });
    const changes = { 'for other checkpoints': {}, 'answer by their product': { combination: 'product' } };
    for (const [cause, change] of Object.entries(changes)) {
      for (const own of [folder, to]) await write(own, change);
      const { id } = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as { id: string };
      const command = `tutti calibrate ${id} --set final`;
      await expect(openEnsemble(folder)).rejects.toThrow(cause);
      await expect(openEnsemble(folder)).rejects.toThrow(`Fit it again (${command}), or remove it.`);
      await expect(openEnsemble(to)).rejects.toThrow(cause);
      await expect(openEnsemble(to)).rejects.toThrow(
        `Calibrate the run again (${command}) and export the ensemble again, or let "postprocessing" ` +
          'be null in ensemble.json',
      );
    }
    // The remedies help.
    const text = await readFile(join(to, 'ensemble.json'), 'utf8');
    await writeFile(join(to, 'ensemble.json'), text.replace(`"${path}"`, 'null'));
    await rm(join(folder, path));
    for (const own of [folder, to]) {
      expect([...(await (await openEnsemble(own)).predict({ rows: [{ size: 3, sold: true }] })).mean]).toEqual([140]);
    }
  });

  it('names the sets of a run, and a damaged file', async () => {
    const folder = await run({ set: 'epoch-4' });
    await expect(openEnsemble(folder)).rejects.toThrow('It has: epoch-4.');
    await expect(openEnsemble(folder, { set: 'final' })).rejects.toThrow('has no set "final"');
    await appendFile(join(folder, 'checkpoints/rank-1/epoch-4.safetensors'), 'x');
    await expect(openEnsemble(folder, { set: 'epoch-4' })).rejects.toThrow('does not match its .json');
    await expect(
      exportRun(folder, { to: `${folder}-out`, zip: false, formats: ['ensemble'], set: 'epoch-4' }),
    ).rejects.toThrow('cannot be part of an ensemble');
    await rm(join(folder, 'run.json'));
    await expect(openEnsemble(folder)).rejects.toThrow('is no run');
  });

  it('refuses a description that leads out of its folder', async () => {
    const to = join(await temporaryFolder(), 'out');
    await exportRun(await run(), { to, zip: false, formats: ['ensemble'] });
    const text = await readFile(join(to, 'ensemble.json'), 'utf8');
    await writeFile(join(to, 'ensemble.json'), text.replace('"preprocessing.json"', '"../preprocessing.json"'));
    await expect(openEnsemble(to)).rejects.toThrow('it must be a relative path inside the folder');
  });

  it('says which class to register for a layer of a project', async () => {
    class Twice extends tf.layers.Layer {
      static className = 'TwiceOfTest';
      override computeOutputShape(shape: number[]) {
        return shape;
      }
      override call(inputs: unknown) {
        return tf.mul(Array.isArray(inputs) ? (inputs[0] as never) : (inputs as never), 2);
      }
    }
    const model = tf.sequential({ layers: [tf.layers.inputLayer({ inputShape: [1] }), new Twice({})] });
    const folder = await runWithModels([model], { task: 'regression' });
    await expect(openEnsemble(folder)).rejects.toThrow('not registered: TwiceOfTest');
    tf.serialization.registerClass(Twice);
    const ensemble = await openEnsemble(folder);
    expect([...(await ensemble.predict({ prepared: Float32Array.of(4) })).mean]).toEqual([8]);
  });
});

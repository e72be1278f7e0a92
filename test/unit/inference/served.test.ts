import { beforeAll, describe, expect, it } from 'vitest';
import type { ServePrediction, ServeRequest } from '../../../core/ensemble/serving.ts';
import type { Tensor } from '../../../core/ensemble/tensors.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { hasColumns, TensorEnsemble } from '../../../workers/inference/served.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { runWithModels } from './run-with-models.ts';

beforeAll(() => startBackend('cpu'));

/** y = x · weights, with W outputs. */
function linear(weights: number[][]) {
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: weights[0].length, useBias: false, inputShape: [weights.length] })],
  });
  model.setWeights([tf.tensor2d(weights)]);
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
        { name: 'town', type: 'category', impute: null, categories: ['Bern', 'Chur'] },
      ],
    },
  ],
  target: { kind: 'values', columns: ['price'], mean: [100], std: [10] },
};

const open = async (...of: Parameters<typeof runWithModels>) =>
  new TensorEnsemble(await openEnsemble(await runWithModels(...of)));
const asking = (tensors: Tensor[], outputs: string[] | null): ServeRequest => {
  return { tensors, outputs, parts: [tensors[0].shape[0]] };
};
const byName = ({ outputs }: ServePrediction) =>
  Object.fromEntries(outputs.map(({ name, shape, values }) => [name, { shape, values: [...values] }]));

describe('an ensemble of tensors', () => {
  it('takes the columns of its table, and gives values with both uncertainties', async () => {
    const models = [linear([[1], [2], [0], [1]]), linear([[3], [2], [0], [1]])];
    const ensemble = await open(models, { task: 'regression', preprocessing: table });
    expect(ensemble.inputs.map(({ name, datatype }) => [name, datatype])).toEqual([
      ['size', 'FP64'],
      ['sold', 'BOOL'],
      ['town', 'BYTES'],
    ]);
    const tensors: Tensor[] = [
      { name: 'size', datatype: 'FP64', shape: [2, 1], values: Float64Array.of(3, Number.NaN) },
      { name: 'sold', datatype: 'BOOL', shape: [2, 1], values: Float64Array.of(1, 0) },
      { name: 'town', datatype: 'BYTES', shape: [2, 1], values: ['Chur', 'Bern'] },
    ];
    // Features [1, 1, 0, 1] and, with the imputed size, [2, 0, 1, 0]: 4 and 2 of the first member, 6 and 6 of the
    // second; times 10, plus 100.
    expect(byName(await ensemble.predict(asking(tensors, null)))).toEqual({
      mean: { shape: [2, 1], values: [150, 140] },
      epistemic: { shape: [2, 1], values: [10, 20] },
      standard_deviation: { shape: [2, 1], values: [10, 20] },
    });
    const members = { shape: [2, 2, 1], values: [140, 160, 120, 160] };
    expect(byName(await ensemble.predict(asking(tensors, ['members'])))).toEqual({ members });
    await expect(ensemble.predict(asking(tensors, ['logits']))).rejects.toThrow(
      'There is no output "logits". Outputs are mean,',
    );
    const described = await ensemble.describe(['changed']);
    expect(described).toMatchObject({ set: 'ensemble-best', members: 2, warnings: ['changed'] });
    expect(described.outputs.map(({ name, shape }) => [name, shape])).toEqual([
      ['mean', [-1, 1]],
      ['epistemic', [-1, 1]],
      ['standard_deviation', [-1, 1]],
      ['members', [-1, 2, 1]],
    ]);
  });

  it('takes the only column of a table, by its name', async () => {
    const [size] = table.steps.flatMap((step) => (step.kind === 'table' ? step.columns : []));
    const preprocessing: Preprocessing = { ...table, steps: [{ kind: 'table', columns: [size] }] };
    const ensemble = await open([linear([[4]])], { task: 'regression', preprocessing });
    expect(hasColumns(preprocessing)).toBe(true);
    expect(hasColumns({ ...table, steps: [] })).toBe(false);
    const tensor: Tensor = { name: 'size', datatype: 'FP64', shape: [1, 1], values: Float64Array.of(3) };
    // The feature is (3 − 1) / 2.
    expect(byName(await ensemble.predict(asking([tensor], ['mean']))).mean.values).toEqual([140]);
  });

  it('counts missing values and unseen categories of each request that was joined', async () => {
    const ensemble = await open([linear([[1], [2], [0], [1]])], { task: 'regression', preprocessing: table });
    const size = Float64Array.of(3, Number.NaN, 2, 1, 2, Number.NaN);
    const tensors: Tensor[] = [
      { name: 'town', datatype: 'BYTES', shape: [6, 1], values: ['Chur', 'Genf', 'Bern', 'Bern', 'Genf', 'Genf'] },
      { name: 'size', datatype: 'FP64', shape: [6, 1], values: size },
      { name: 'sold', datatype: 'BOOL', shape: [6, 1], values: Float64Array.of(1, 0, 1, 0, 1, 0) },
    ];
    const { warnings } = await ensemble.predict({ tensors, outputs: ['mean'], parts: [1, 2, 1, 2] });
    const none = { mistyped: 0, mistypedValues: [], unseen: 0, unseenValues: [], outside: 0, outsideValues: [] };
    const missing = (rows: number) => ({
      column: 'size',
      rows,
      missing: 1,
      ...none,
    });
    const unseen = (rows: number, count: number) => {
      return {
        column: 'town',
        rows,
        missing: 0,
        ...none,
        unseen: count,
        unseenValues: [{ value: 'Genf', count }],
      };
    };
    expect(warnings).toEqual([[], [missing(2), unseen(2, 1)], [], [missing(2), unseen(2, 2)]]);
  });

  it('counts columns that are absent, and texts that are no numbers, as missing where training put a value', async () => {
    const ensemble = await open([linear([[1], [2], [0], [1]])], { task: 'regression', preprocessing: table });
    const town: Tensor = { name: 'town', datatype: 'BYTES', shape: [2, 1], values: ['Chur', 'Bern'] };
    const sold: Tensor = { name: 'sold', datatype: 'BOOL', shape: [2, 1], values: Float64Array.of(1, 0) };
    const size: Tensor = { name: 'size', datatype: 'BYTES', shape: [2, 1], values: ['3', 'big'] };
    const none = { mistyped: 0, mistypedValues: [], unseen: 0, unseenValues: [], outside: 0, outsideValues: [] };
    const typed = await ensemble.predict(asking([size, sold, town], ['mean']));
    const big = { mistyped: 1, mistypedValues: [{ value: 'big', count: 1 }] };
    expect(typed.warnings).toEqual([[{ column: 'size', rows: 2, missing: 0, ...none, ...big }]]);
    const absent = await ensemble.predict(asking([sold, town], ['mean']));
    expect(absent.warnings).toEqual([[{ column: 'size', rows: 2, missing: 2, ...none }]]);
    // As the imputed size.
    expect(byName(typed).mean.values[1]).toBe(byName(absent).mean.values[1]);
    await expect(ensemble.predict(asking([size, sold], ['mean']))).rejects.toThrow('rows has no column "town"');
  });

  it('gives probabilities, labels and entropies of classes', async () => {
    const ln3 = Math.log(3);
    const ensemble = await open([linear([[0, ln3]]), linear([[0, -ln3]])], { task: 'classification' });
    const tensors: Tensor[] = [{ name: 'features', datatype: 'FP32', shape: [1, 1], values: Float32Array.of(1) }];
    const found = byName(
      await ensemble.predict(asking(tensors, ['mean', 'label', 'entropy', 'mutual_information', 'members'])),
    );
    // Members say (1/4, 3/4) and (3/4, 1/4); their mean is (1/2, 1/2).
    const ofMember = -(0.25 * Math.log(0.25) + 0.75 * Math.log(0.75));
    expect(found.members.shape).toEqual([1, 2, 2]);
    [0.25, 0.75, 0.75, 0.25].forEach((value, i) => expect(found.members.values[i]).toBeCloseTo(value, 6));
    expect(found.mean.values[0]).toBeCloseTo(0.5, 6);
    expect(found.entropy.values[0]).toBeCloseTo(Math.LN2, 6);
    expect(found.mutual_information.values[0]).toBeCloseTo(Math.LN2 - ofMember, 6);
    expect(found.label.shape).toEqual([1]);
  });

  it("takes columns that the project's code turns into inputs", async () => {
    const folder = await runWithModels([linear([[1], [10]])], { task: 'regression' });
    const ensemble = new TensorEnsemble(await openEnsemble(folder), async ({ length, columns }) => {
      const [size, town] = columns;
      const values = Array.from({ length }, (_, i) => [Number(size.values[i]), town.values[i] === 'Bern' ? 1 : 0]);
      return { prepared: Float32Array.from(values.flat().slice(0, 2 * Math.min(length, 2))) };
    });
    const tensors = (...towns: (string | null)[]): Tensor[] => [
      { name: 'size', datatype: 'FP64', shape: [towns.length, 1], values: Float64Array.from(towns, (_, i) => i + 3) },
      { name: 'town', datatype: 'BYTES', shape: [towns.length], values: towns },
    ];
    expect(byName(await ensemble.predict(asking(tensors('Bern', null), ['mean']))).mean.values).toEqual([13, 4]);
    const features: Tensor = { name: 'features', datatype: 'FP32', shape: [1, 2], values: Float32Array.of(1, 2) };
    expect(byName(await ensemble.predict(asking([features], ['mean']))).mean.values).toEqual([21]);
    await expect(ensemble.predict(asking(tensors('a', 'b', 'c'), null))).rejects.toThrow('made 2 samples of 3 rows');
    expect((await ensemble.describe([])).takesColumns).toBe(true);
  });

  it('takes further inputs by their names, and images as bytes', async () => {
    const inputs = ['x', 'y'].map((name) => tf.input({ shape: [1], name }));
    const sum = tf.layers.add().apply(inputs) as SymbolicTensor;
    const two = await open([tf.model({ inputs, outputs: sum })], { task: 'regression' });
    const tensor = (name: string, ...values: number[]): Tensor => {
      return { name, datatype: 'FP32', shape: [values.length, 1], values: Float32Array.from(values) };
    };
    const found = byName(await two.predict(asking([tensor('y', 10, 20), tensor('x', 1, 2)], ['mean'])));
    expect(found.mean.values).toEqual([11, 22]);
    const steps = [{ kind: 'standardize' as const, mean: [1], std: [2] }];
    const preprocessing: Preprocessing = { format: 1, steps, extraInputs: ['x'] };
    const last = await open([tf.model({ inputs, outputs: sum })], { task: 'regression', preprocessing });
    expect(last.inputs.map(({ name, kind }) => [name, kind])).toEqual([
      ['x', 'extra'],
      ['y', 'values'],
    ]);
    expect(byName(await last.predict(asking([tensor('x', 10), tensor('y', 7)], ['mean']))).mean.values).toEqual([13]);
    const images: Preprocessing = {
      format: 1,
      steps: [{ kind: 'images', height: 1, width: 1, channels: 1, fit: 'cover' }],
    };
    const layers = [tf.layers.flatten({ inputShape: [1, 1, 1] })];
    const one = await open([tf.sequential({ layers })], { task: 'regression', preprocessing: images });
    expect(one.inputs).toEqual([{ name: 'images', datatype: 'UINT8', shape: [-1, 1, 1, 1], kind: 'values' }]);
    const pixels: Tensor = { name: 'images', datatype: 'UINT8', shape: [1, 1, 1, 1], values: Uint8Array.of(51) };
    expect(byName(await one.predict(asking([pixels], ['mean']))).mean.values[0]).toBeCloseTo(0.2, 6);
  });
});

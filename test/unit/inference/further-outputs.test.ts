import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { positionsOfRows, predictionColumns } from '../../../core/ensemble/columns.ts';
import type { EnsemblePredictions, FurtherOutput } from '../../../core/ensemble/predictions.ts';
import { allTensors, outputTensors } from '../../../core/ensemble/tensors.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { runOnnx } from '../onnx/run-onnx.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runWithModels } from './run-with-models.ts';

beforeAll(() => startBackend('cpu'));

/**
 * Outputs of two inputs x: logits x of two classes, the sum of x times a factor, its variance 4, and a logit, the first
 * input.
 */
function model(factor: number) {
  const x = tf.input({ shape: [2] });
  const dense = (name: string, units: number) => tf.layers.dense({ name, units }).apply(x) as SymbolicTensor;
  const own = tf.model({
    inputs: x,
    outputs: [dense('own', 2), dense('size', 1), dense('spread', 1), dense('late', 1)],
  });
  const weights: [number[], number[], [number, number]][] = [
    [
      [1, 0, 0, 1],
      [0, 0],
      [2, 2],
    ],
    [[factor, factor], [0], [2, 1]],
    [[0, 0], [4], [2, 1]],
    [[1, 0], [0], [2, 1]],
  ];
  own.setWeights(weights.flatMap(([kernel, bias, shape]) => [tf.tensor2d(kernel, shape), tf.tensor1d(bias)]));
  return own;
}

const outputs: FurtherOutput[] = [
  { name: 'size', task: 'heteroscedastic-regression', classNames: null, quantiles: null },
  { name: 'late', task: 'binary', classNames: ['no', 'yes'], quantiles: null },
];
const values = Float32Array.of(Math.log(3), 0);
const sum = Math.log(3);

const open = async (more = {}) => {
  const folder = await runWithModels([model(1), model(3)], { task: 'classification', outputs, ...more });
  return { folder, ensemble: await openEnsemble(folder) };
};

const rounded = (own: Iterable<number>) => [...own].map((value) => Math.round(value * 1e5) / 1e5);

describe('further outputs of the models', () => {
  it('are predicted as their tasks say', async () => {
    const { ensemble } = await open();
    const { further, mean } = await ensemble.predict({ values });
    ensemble.dispose();
    expect(rounded(mean)).toEqual([0.75, 0.25]);
    const { size, late } = further;
    if (size.kind !== 'values' || late.kind !== 'classes') throw new Error('Values and classes were expected.');
    // Members predict ln 3 and 3 ln 3.
    expect(rounded(size.mean)).toEqual(rounded([2 * sum]));
    expect(rounded(size.epistemic)).toEqual(rounded([sum]));
    expect(rounded(size.aleatoric ?? [])).toEqual([2]);
    expect(rounded(late.mean)).toEqual([0.25, 0.75]);
    expect([...late.labels]).toEqual([1]);
  });

  it('have columns and tensors that begin with their names', async () => {
    const { ensemble } = await open();
    const found = await ensemble.predict({ values });
    const { description } = ensemble;
    ensemble.dispose();
    const columns = predictionColumns(found, description, { withMembers: true });
    const first = Object.fromEntries(columns.map((column) => [column.name, column.values[0]]));
    expect(first).toMatchObject({ class: '0', 'late/class': 'yes' });
    expect(first['size/member_1_mean']).toBeCloseTo(3 * sum, 5);
    expect(first['late/probability_yes']).toBeCloseTo(0.75, 5);
    const names = (tensors: { name: string }[]) => tensors.map(({ name }) => name).join(' ');
    expect(names(outputTensors(found, description, null))).toBe(
      'mean label entropy mutual_information size/mean size/aleatoric size/epistemic size/standard_deviation ' +
        'late/mean late/label late/class late/entropy late/mutual_information',
    );
    const [tensor] = outputTensors(found, description, ['size/members']);
    expect(tensor.shape).toEqual([1, 2, 1]);
    expect(rounded(tensor.values as Float32Array)).toEqual(rounded([sum, 3 * sum]));
    expect(
      names(allTensors(found, description)).endsWith('members size/members size/member_variances late/members'),
    ).toBe(true);
    expect(() => outputTensors(found, description, ['size'])).toThrow('There is no output "size"');
  });

  it('are left out of a run that did not record them', async () => {
    const { ensemble } = await open({ outputs: undefined });
    const { further, mean } = await ensemble.predict({ values });
    ensemble.dispose();
    expect([further, rounded(mean)]).toEqual([{}, [0.75, 0.25]]);
  });

  it('are in the ONNX file', async () => {
    const { folder, ensemble } = await open();
    const found = await ensemble.predict({ values });
    const to = join(await temporaryFolder(), 'exported');
    await exportRun(folder, { to, zip: false, formats: ['onnx'] });
    const feeds = { features: { shape: [1, 2], data: values } };
    const written = await runOnnx(await readFile(join(to, 'onnx/ensemble.onnx')), feeds);
    expect(Object.keys(written).sort()).toEqual(
      ['', 'late/']
        .flatMap((prefix) => ['entropy', 'mean', 'members', 'mutual_information'].map((name) => `${prefix}${name}`))
        .concat(['aleatoric', 'epistemic', 'mean', 'members', 'standard_deviation'].map((name) => `size/${name}`))
        .sort(),
    );
    for (const [name, { shape, data }] of Object.entries(written)) {
      const [tensor] = outputTensors(found, ensemble.description, [name]);
      expect([name, tensor.shape]).toEqual([name, shape]);
      (tensor.values as Float64Array).forEach((value, i) => expect(data[i]).toBeCloseTo(value, 5));
    }
    ensemble.dispose();
  });
});

describe('rows of predictions', () => {
  const at = (positions: number, further: Record<string, number> = {}) =>
    ({
      positions,
      further: Object.fromEntries(Object.entries(further).map(([name, own]) => [name, { positions: own }])),
    }) as unknown as EnsemblePredictions;

  it('are one for each position of the outputs that have several', () => {
    expect([at(1), at(4), at(1, { a: 1, b: 4 }), at(4, { a: 1, b: 4 })].map(positionsOfRows)).toEqual([1, 4, 4, 4]);
    expect(() => positionsOfRows(at(2, { a: 4 }))).toThrow(
      'The output "a" has 4 predictions for each sample, others have 2',
    );
    expect(() => positionsOfRows(at(1, { a: 4, b: 3 }))).toThrow(
      '"b" has 3 predictions for each sample, others have 4',
    );
  });

  it('repeat what a sample has once', () => {
    const values = (positions: number, own: number[], further = {}) =>
      ({
        kind: 'labels',
        positions,
        samples: own.length,
        width: 1,
        mean: Float64Array.from(own),
        entropy: Float64Array.from(own),
        mutualInformation: Float64Array.from(own),
        judgement: null,
        sets: null,
        further,
      }) as unknown as EnsemblePredictions;
    const found = values(1, [1, 2], { steps: values(2, [1, 2, 3, 4]) });
    const columns = predictionColumns(
      found,
      {
        classNames: null,
        quantiles: null,
        members: [],
        outputs: [{ name: 'steps', task: 'multi-label', classNames: null, quantiles: null }],
      },
      { withMembers: false },
    );
    const of = (name: string) => [...(columns.find((column) => column.name === name)?.values ?? [])];
    expect(of('probability_0')).toEqual([1, 1, 2, 2]);
    expect(of('steps/probability_0')).toEqual([1, 2, 3, 4]);
  });
});

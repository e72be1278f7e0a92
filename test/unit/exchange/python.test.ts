import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EnsembleDescription } from '../../../core/ensemble/schema.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../../core/safetensors/safetensors.ts';
import type { Calibration, Postprocessing } from '../../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import type { FurtherOutput } from '../../../core/ensemble/predictions.ts';
import { allTensors } from '../../../core/ensemble/tensors.ts';
import { outputNames } from '../../../workers/onnx/outputs.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { Ensemble } from '../../../workers/inference/ensemble.ts';
import { PytorchEnsembleWriter } from '../../../workers/pytorch/ensemble-files.ts';
import { sampledTopology } from '../../../workers/parts/draft-members.ts';
import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { Value } from '../../reference/value.ts';
import { notRun } from '../../environment/reasons.ts';
import { modelFile } from '../onnx/run-onnx.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { drawModels, exportedCases, type LayerModel } from './layer-models.ts';
import { compareInPython, noOnnx, noTorch } from './python.ts';

beforeAll(() => startBackend('cpu'));

/** Draws of each layer: more in the nightly form. */
const draws = Number(process.env.TUTTI_EXPORT_DRAWS ?? 2);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 15);

const description: EnsembleDescription = {
  format: 1,
  name: 'a run',
  run: 'run-1',
  set: 'final',
  task: 'regression',
  combination: 'mean',
  classNames: null,
  quantiles: null,
  outputs: [],
  members: [{ rank: 0, epoch: 0, step: 1, model: 'm', weights: 'w', bytes: 1, sha256: '' }],
  preprocessing: null,
  postprocessing: null,
};

async function writeCase(folder: string, { inputs, expected }: LayerModel): Promise<void> {
  const tensors = inputs.map((value, i): NamedTensor => tensorOf(`x${i}`, value.shape, value.data));
  const reference = tensorOf('expected', expected.shape, Float32Array.from(expected.data));
  await writeFile(join(folder, 'data.safetensors'), encodeSafetensors([...tensors, reference]));
}

function tensorOf(name: string, shape: readonly number[], data: Float32Array): NamedTensor {
  return { name, dtype: 'F32', shape, data: data as Float32Array<ArrayBuffer> };
}

async function writePytorch(folder: string, model: LayersModel): Promise<void> {
  const writer = new PytorchEnsembleWriter(description, null, null);
  writer.add(model);
  for (const { path, content } of writer.finish('1.2.3')) await writeFile(join(folder, path), content);
}

const writeOnnx = (folder: string, model: LayersModel): Promise<void> =>
  writeFile(join(folder, 'model.onnx'), modelFile(model));

/** Exports draws of all layers and compares them in one process of Python. @returns a line for each that differs */
async function wrongLayers(write: (folder: string, model: LayersModel) => Promise<void>): Promise<string[]> {
  const root = await temporaryFolder();
  const cases: (LayerModel & { folder: string; op: string })[] = [];
  const add = async (op: string, drawn: LayerModel): Promise<void> => {
    const folder = join(root, `${op}-${cases.length}`);
    await mkdir(folder);
    await write(folder, drawn.model);
    await writeCase(folder, drawn);
    cases.push({ ...drawn, folder, op });
  };
  for (const own of exportedCases) {
    for (const drawn of drawModels(own, draws, seed)) await add(own.op, drawn);
  }
  await add('layers.sampledDropout', await sampledDropout());
  await add('layers.globalAveragePooling1d', averagedSteps());
  for (const dataFormat of ['channelsLast', 'channelsFirst'] as const)
    await add('layers.upSampling2d', enlarged(dataFormat));
  const results = compareInPython(cases.map(({ folder }) => folder));
  const wrong = results.flatMap(({ failure, error }, i) => {
    const { op, about } = cases[i];
    return failure === undefined && error < 1e-5 ? [] : [`${op} ${about}: ${failure ?? `error ${error}`}`];
  });
  if (process.env.TUTTI_EXPORT_DRAWS !== undefined)
    console.log(`${results.length} models, largest error ${Math.max(...results.map(({ error }) => error))}`);
  return wrong;
}

/** A draw of MC dropout, with what it predicts. */
async function sampledDropout(): Promise<LayerModel> {
  const layers = [tf.layers.dropout({ rate: 0.4, inputShape: [5, 3] }), tf.layers.dense({ units: 2 })];
  const topology = sampledTopology(topologyOf(tf.sequential({ layers })), { seed: 3, draw: 1 }, 'a model');
  const model = await modelFromTopology(topology, 'a model');
  const x = tf.randomNormal([4, 5, 3], 0, 1, 'float32', 6);
  const expected = new Value([...(model.predict(x) as Tensor).dataSync()], [4, 5, 2]);
  const inputs = [{ shape: [4, 5, 3], data: x.dataSync<'float32'>() }];
  return { model, inputs, expected, about: 'rate 0.4' };
}

/** The mean of two masked series over the steps that count in both, by hand. */
function averagedSteps(): LayerModel {
  const inputs = [0, 1].map(() => tf.input({ shape: [3, 1] }));
  const masked = inputs.map((input) => tf.layers.masking({ maskValue: -1 }).apply(input) as SymbolicTensor);
  const pool = tf.layers.globalAveragePooling1d({});
  const outputs = pool.apply(tf.layers.add().apply(masked)) as SymbolicTensor;
  // Steps 0 and 2 of the first sample, none of the second.
  const values = [Float32Array.of(1, 2, 3, 4, -1, 5), Float32Array.of(10, -1, 30, -1, 40, -1)];
  return {
    model: tf.model({ inputs, outputs }),
    inputs: values.map((data) => ({ shape: [2, 3, 1], data })),
    expected: new Value([(11 + 33) / 2, 0], [2, 1]),
    about: 'of masked steps',
  };
}

/**
 * An image between whose pixels values are interpolated, by TensorFlow.js alone: the float64 reference repeats pixels.
 */
function enlarged(dataFormat: 'channelsFirst' | 'channelsLast'): LayerModel {
  const layer = tf.layers.upSampling2d({ size: [3, 2], interpolation: 'bilinear', dataFormat, inputShape: [4, 3, 2] });
  const model = tf.sequential({ layers: [layer] });
  const x = tf.randomNormal([2, 4, 3, 2], 0, 1, 'float32', 9);
  const y = model.predict(x) as Tensor;
  const inputs = [{ shape: [2, 4, 3, 2], data: x.dataSync<'float32'>() }];
  return { model, inputs, expected: new Value([...y.dataSync()], y.shape), about: `bilinear, ${dataFormat}` };
}

it('writes code for PyTorch that can be read', () => {
  const x = tf.input({ shape: [4, 2] });
  const states = tf.layers.gru({ units: 3, returnSequences: true }).apply(tf.layers.masking().apply(x));
  const y = tf.layers.dense({ units: 2, activation: 'hardSigmoid', name: 'my-last' }).apply(states) as SymbolicTensor;
  const writer = new PytorchEnsembleWriter(description, null, null);
  writer.add(tf.model({ inputs: x, outputs: y }));
  const [code, weights] = writer.finish('1.2.3');
  expect(code.content).toContain(`class Member(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru_0 = Recurrent("GRU", 2, 3, True, lambda x: torch.tanh(x), lambda x: hard_sigmoid(x), False)
        self.my_last = nn.Linear(3, 2, bias=True)

    def forward(self, x):
        x1 = x * (x != 0).any(-1, keepdim=True)
        x2 = (x != 0).any(-1)
        x3 = self.gru_0(x1, mask=x2)
        x4 = x3[0]
        x5 = hard_sigmoid(self.my_last(x4))
        return x5,
`);
  expect(weights.path).toBe('member-0.safetensors');
  const names = decodeSafetensors(weights.content as Uint8Array).tensors.map(({ name, shape }) => [name, shape]);
  expect(names).toContainEqual(['my_last.weight', [2, 3]]);
  expect(names).toContainEqual(['gru_0.recurrent_kernel', [3, 9]]);
});

it('gives attributes of a module no names that it or Python has', () => {
  const layer = (name: string) => tf.layers.dense({ units: 2, name, inputShape: [2] });
  const writer = new PytorchEnsembleWriter(description, null, null);
  writer.add(tf.sequential({ layers: [layer('half'), layer('lambda'), layer('half_')] }));
  const [, weights] = writer.finish('1.2.3');
  const names = decodeSafetensors(weights.content as Uint8Array).tensors.map(({ name }) => name);
  expect(names.filter((name) => name.endsWith('weight')).sort()).toEqual([
    'half_.weight',
    'half__1.weight',
    'lambda_.weight',
  ]);
});

it('refuses a layer that PyTorch lacks by its name', () => {
  const x = tf.input({ shape: [8, 8, 3] });
  const y = tf.layers.resizing({ height: 4, width: 4, name: 'smaller' }).apply(x) as SymbolicTensor;
  const writer = new PytorchEnsembleWriter(description, null, null);
  expect(() => writer.add(tf.model({ inputs: x, outputs: y }))).toThrow(
    '"smaller" (Resizing) cannot be exported to PyTorch',
  );
});

describe('exported layers in Python, against the float64 reference', () => {
  it.skipIf(noTorch !== null)(`as code for PyTorch${notRun(noTorch)}`, { timeout: 60_000 }, async () => {
    expect(await wrongLayers(writePytorch)).toEqual([]);
  });

  it.skipIf(noOnnx !== null)(`as ONNX, run by ONNX Runtime${notRun(noOnnx)}`, { timeout: 60_000 }, async () => {
    expect(await wrongLayers(writeOnnx)).toEqual([]);
  });

  it.skipIf(noTorch !== null)(`combined as each task says${notRun(noTorch)}`, { timeout: 60_000 }, async () => {
    const root = await temporaryFolder();
    const folders = combined.map((_, i) => join(root, `${i}`));
    for (const [i, folder] of folders.entries()) await writeCombined(folder, combined[i]);
    const results = compareInPython(folders);
    expect(results.filter(({ failure, error }) => failure !== undefined || !(error < 1e-5))).toEqual([]);
  });
});

/** Code for PyTorch, inputs, and what the opened ensemble predicts for them, under the names of the Python ensemble. */
async function writeCombined(folder: string, { models, ...about }: Combined): Promise<void> {
  const { preprocessing = null, calibration = null, outputs = [], task, combination = 'mean' } = about;
  const [member] = description.members;
  const own = { ...description, task, combination, outputs, members: [member, { ...member, rank: 1 }] };
  const ensemble = new Ensemble(own, models(), { preprocessing, postprocessing: fitted(about) });
  const writer = new PytorchEnsembleWriter(own, preprocessing, calibration);
  for (const model of ensemble.models) writer.add(model);
  await mkdir(folder);
  for (const { path, content } of writer.finish('1.2.3')) await writeFile(join(folder, path), content);
  const prepared = tf.randomNormal([5, 3], 0, 1, 'float32', 8).dataSync<'float32'>().slice();
  const found = await ensemble.predict({ prepared });
  ensemble.dispose();
  const tensors = allTensors(found, own).flatMap(({ name, shape, values }) =>
    isInPython(name) ? [tensorOf(`output ${name}`, shape, Float32Array.from(values as Float32Array))] : [],
  );
  const content = encodeSafetensors([tensorOf('x0', [5, 3], prepared), ...tensors]);
  await writeFile(join(folder, 'data.safetensors'), content);
}

/** What was fitted, of which the calibration counts. */
function fitted({ task, combination, calibration }: Omit<Combined, 'models'>): Postprocessing | null {
  if (calibration === undefined) return null;
  const members = [0, 1].map((rank) => ({ rank, checkpoint: 'final', epoch: 0 }));
  const set = { name: 'final', members };
  const fittedOn = { split: 'validation' as const, samples: 10, parts: null };
  return {
    format: 1,
    task,
    set,
    classNames: null,
    targetNames: null,
    combination: combination ?? 'mean',
    judged: null,
    fittedOn,
    calibration,
    conformal: null,
    outside: null,
    selective: null,
    measured: null,
  };
}

const isInPython = (name: string): boolean =>
  (outputNames as readonly string[]).includes(name.slice(name.indexOf('/') + 1));

/** Two members with weights from seeds, of 3 inputs and these outputs. */
function members(...outputs: { units: number; activation: 'linear' | 'softplus' }[]): LayersModel[] {
  return [1, 2].map((seed) => {
    const x = tf.input({ shape: [3] });
    const y = outputs.map((options) => tf.layers.dense(options).apply(x) as SymbolicTensor);
    const model = tf.model({ inputs: x, outputs: y });
    const seeds = (i: number): number => 10 * seed + i;
    model.setWeights(
      model.weights.map(({ shape }, i) => tf.randomNormal(shape as number[], 0, 1, 'float32', seeds(i))),
    );
    return model;
  });
}

const linear = (units: number) => ({ units, activation: 'linear' as const });
const scaled: Preprocessing = {
  format: 1,
  steps: [],
  target: { kind: 'values', columns: ['a', 'b'], mean: [10, -1], std: [2, 0.5] },
};

interface Combined {
  task: EnsembleDescription['task'];
  combination?: EnsembleDescription['combination'];
  models: () => LayersModel[];
  preprocessing?: Preprocessing;
  calibration?: Calibration;
  outputs?: FurtherOutput[];
}

const classes = (calibration: Calibration): Combined => ({
  task: 'classification',
  models: () => members(linear(3)),
  calibration,
});

/** Members that answer by their product, with each calibration, or with none. */
function jointly(given: Combined, calibrations?: Calibration[]): Combined[] {
  const product = { ...given, combination: 'product' as const };
  return calibrations?.map((calibration) => ({ ...product, calibration })) ?? [product];
}

const combined: Combined[] = [
  { task: 'classification', models: () => members(linear(3)) },
  { task: 'binary', models: () => members(linear(1)) },
  { task: 'ordinal', models: () => members(linear(3)) },
  { task: 'multi-label', models: () => members(linear(2)) },
  { task: 'poisson-regression', models: () => members(linear(1)) },
  {
    task: 'heteroscedastic-regression',
    models: () => members(linear(2), { units: 2, activation: 'softplus' }),
    preprocessing: scaled,
  },
  {
    task: 'heteroscedastic-regression',
    models: () => members(linear(2), { units: 2, activation: 'softplus' }),
    // Float32 has no digits left for the members' deviation.
    preprocessing: { ...scaled, target: { kind: 'values', columns: ['a', 'b'], mean: [1e8, -1e8], std: [2, 0.5] } },
  },
  {
    task: 'regression',
    models: () => members(linear(2), linear(1), { units: 1, activation: 'softplus' }, linear(3)),
    preprocessing: scaled,
    calibration: { method: 'sigma', scales: [0.5, 3] },
    outputs: [
      { name: 'a-b', task: 'heteroscedastic-regression', classNames: null, quantiles: null },
      { name: 'a_b', task: 'quantile-regression', classNames: null, quantiles: [0.1, 0.5, 0.9] },
    ],
  },
  classes({ method: 'temperature', fit: 'joint', temperatures: [2, 0.7] }),
  classes({ method: 'pooled-temperature', temperature: 1.7 }),
  classes({ method: 'vector', scale: [1, 0.5, 2], bias: [0.1, 0, -0.3] }),
  classes({
    method: 'dirichlet',
    weights: [
      [1, 0.2, 0],
      [0, 1, -0.4],
      [0.3, 0, 0.8],
    ],
    bias: [0, 0.5, -0.5],
  }),
  classes({
    method: 'isotonic',
    classes: [
      { from: [0.1, 0.4, 0.9], to: [0, 0.5, 1] },
      { from: [0.2], to: [0.3] },
      { from: [0, 0.5, 0.5, 1], to: [0, 0.2, 0.6, 0.6] },
    ],
  }),
  ...jointly({ task: 'classification', models: () => members(linear(3)) }),
  ...jointly({ task: 'classification', models: () => members(linear(3)) }, [
    { method: 'pooled-temperature', temperature: 1.7 },
    { method: 'vector', scale: [1, 0.5, 2], bias: [0.1, 0, -0.3] },
    { method: 'isotonic', classes: [0, 1, 2].map(() => ({ from: [0.1, 0.4, 0.9], to: [0, 0.5, 1] })) },
  ]),
  ...jointly({ task: 'binary', models: () => members(linear(1)) }),
  ...jointly({ task: 'multi-label', models: () => members(linear(2)) }),
  ...jointly({ task: 'multi-label', models: () => members(linear(2)) }, [
    { method: 'labels', fit: 'platt', scale: [1.5, 0.5], bias: [0.2, -0.3] },
  ]),
  ...jointly({ task: 'poisson-regression', models: () => members(linear(2)) }, [{ method: 'sigma', scales: [0.5, 3] }]),
  ...jointly({ task: 'regression', models: () => members(linear(2)), preprocessing: scaled }),
  // Probabilities that are all mapped to 0.
  classes({ method: 'isotonic', classes: [0, 1, 2].map(() => ({ from: [0.9, 1], to: [0, 1] })) }),
];

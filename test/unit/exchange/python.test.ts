import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EnsembleDescription } from '../../../core/ensemble/schema.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../../core/safetensors/safetensors.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { PytorchEnsembleWriter } from '../../../workers/pytorch/ensemble-files.ts';
import { sampledTopology } from '../../../workers/parts/sampled-topology.ts';
import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { Value } from '../../reference/value.ts';
import { notRun } from '../../environment/reasons.ts';
import { modelFile } from '../onnx/run-onnx.ts';
import { runWithModels } from '../inference/run-with-models.ts';
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
    const folders = combined.map(([task]) => join(root, task));
    for (const [i, [task, models, preprocessing]] of combined.entries()) {
      const run = await runWithModels(models(), { task, ...(preprocessing && { preprocessing }) });
      await exportRun(run, { to: join(root, task, 'exported'), zip: false, formats: ['pytorch'] });
      await rename(join(root, task, 'exported/pytorch'), join(folders[i], 'code'));
      await writeFile(join(folders[i], 'code/data.safetensors'), await expectedOutputs(run));
    }
    const results = compareInPython(folders.map((folder) => join(folder, 'code')));
    expect(results.filter(({ failure, error }) => failure !== undefined || !(error < 1e-5))).toEqual([]);
  });
});

/** Inputs, and what the opened ensemble predicts for them, under the names of the Python ensemble. */
async function expectedOutputs(run: string): Promise<Uint8Array> {
  const prepared = tf.randomNormal([5, 3], 0, 1, 'float32', 8).dataSync<'float32'>().slice();
  const ensemble = await openEnsemble(run);
  const found = await ensemble.predict({ prepared });
  ensemble.dispose();
  const { width, samples, memberCount } = found;
  const shape = [samples, width];
  const members = tf.transpose(tf.tensor3d(found.members, [memberCount, samples, width]), [1, 0, 2]).dataSync();
  const outputs: [name: string, shape: number[], values: Iterable<number> | null][] = [
    ['mean', shape, found.mean],
    ['members', [samples, memberCount, width], members],
    ['entropy', found.kind === 'classes' ? [samples] : shape, 'entropy' in found ? found.entropy : null],
    [
      'mutual_information',
      found.kind === 'classes' ? [samples] : shape,
      'entropy' in found ? found.mutualInformation : null,
    ],
    ['aleatoric', shape, 'aleatoric' in found ? found.aleatoric : null],
    ['epistemic', shape, 'epistemic' in found ? found.epistemic : null],
  ];
  const tensors = outputs.flatMap(([name, sizes, values]) =>
    values === null ? [] : [tensorOf(`output ${name}`, sizes, Float32Array.from(values))],
  );
  return encodeSafetensors([tensorOf('x0', [5, 3], prepared), ...tensors]);
}

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
const combined: [EnsembleDescription['task'], () => LayersModel[], Preprocessing?][] = [
  ['classification', () => members(linear(3))],
  ['binary', () => members(linear(1))],
  ['ordinal', () => members(linear(3))],
  ['multi-label', () => members(linear(2))],
  ['poisson-regression', () => members(linear(1))],
  ['heteroscedastic-regression', () => members(linear(2), { units: 2, activation: 'softplus' }), scaled],
];

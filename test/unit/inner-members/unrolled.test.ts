import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { batchEnsemble, mimo, tf } from '../../../workers/index.ts';
import { readWeights, writeWeights } from '../../../workers/member/weights.ts';
import { unrolledMembers } from '../../../workers/parts/draft-members.ts';
import { Generator, withSeededMathRandom } from '../../../workers/random/index.ts';
import type { LayersModel, SymbolicTensor, Tensor } from '../../../workers/tensorflow/tf.ts';
import { modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { modelFile, runOnnx } from '../onnx/run-onnx.ts';

beforeAll(() => startBackend('cpu'));

const { conv2d, dense, flatten, batchNormalization, maxPooling2d, leakyReLU } = tf.layers;

async function unroll(model: LayersModel): Promise<LayersModel[]> {
  const members = await unrolledMembers({ topology: topologyOf(model), tensors: await readWeights(model) }, 'a test');
  return Promise.all(
    members.map(async ({ topology, tensors }) => {
      const own = await modelFromTopology(topology, 'a test');
      writeWeights(own, tensors, 'a test');
      return own;
    }),
  );
}

/** Other weights than the initial ones, some of which are 0. */
function disturb(model: LayersModel): LayersModel {
  const changed = model
    .getWeights()
    .map((weight, i) => tf.add(weight, tf.randomUniform(weight.shape, 0.1, 0.6, 'float32', i)));
  model.setWeights(changed);
  return model;
}

/** What the inner members predict, `[M·B, ...]` of each output: what the last layers take the mean of. */
function ofMembers(model: LayersModel, x: Tensor): Tensor[] {
  const outputs = model.outputs.map(({ inputs, outputTensorIndex = 0 }) => inputs[outputTensorIndex]);
  return [tf.model({ inputs: model.inputs, outputs }).predict(x)].flat();
}

async function expectUnrolled(model: LayersModel, x: Tensor): Promise<LayersModel[]> {
  const expected = ofMembers(disturb(model), x);
  const members = await unroll(model);
  const [samples] = x.shape;
  for (const [m, member] of members.entries()) {
    const found = [member.predict(x)].flat();
    expect(found).toHaveLength(expected.length);
    found.forEach((output, i) => {
      const own = tf.slice(expected[i], [m * samples], [samples]);
      expect(output.shape).toEqual(own.shape);
      const scale = Math.max(1, ...own.abs().dataSync());
      expect(tf.sub(output, own).abs().max().dataSync()[0] / scale).toBeLessThan(1e-6);
    });
  }
  expect(expected[0].shape[0] / samples).toBe(members.length);
  return members;
}

/** Members, channels: also one, and three. */
const sizes = fc.integer({ min: 1, max: 4 });
const normal = (...shape: number[]): Tensor => tf.randomNormal(shape, 0, 1, 'float32', 4);

/** A convolutional network of BatchEnsemble. */
function convolutional(members: number, dataFormat: 'channelsFirst' | 'channelsLast'): LayersModel {
  const { inputs, outputs, ...layers } = batchEnsemble({ members });
  const inputShape = dataFormat === 'channelsLast' ? [5, 6, 3] : [3, 5, 6];
  return tf.sequential({
    layers: [
      inputs({ inputShape }),
      layers.conv2d({ filters: 4, kernelSize: 3, padding: 'same', dataFormat, activation: 'relu' }),
      batchNormalization({ axis: dataFormat === 'channelsLast' ? -1 : 1 }),
      maxPooling2d({ poolSize: 2, dataFormat }),
      conv2d({ filters: 2, kernelSize: 1, dataFormat }),
      flatten(),
      layers.dense({ units: 3, useBias: false, kernelConstraint: 'unitNorm', kernelRegularizer: 'l1l2', name: 'last' }),
      outputs({ task: 'classification' }),
    ],
  });
}

/** A network of MIMO with one head, of a model that has two inputs for each task's output. */
function mimoOf(members: number): LayersModel {
  const { inputs, heads, outputs } = mimo({ members });
  const x = tf.input({ shape: [4] });
  const [rows, positions] = inputs().apply(x) as SymbolicTensor[];
  const features = leakyReLU().apply(dense({ units: 6 }).apply(rows)) as SymbolicTensor;
  const mean = heads({ units: 1, name: 'mean' }).apply([features, positions]);
  const variance = heads({ units: 1, activation: 'softplus' }).apply([features, positions]);
  const both = outputs({ task: 'heteroscedastic-regression', name: 'gaussian' }).apply([
    mean,
    variance,
  ] as SymbolicTensor[]);
  return tf.model({ inputs: x, outputs: both as SymbolicTensor[] });
}

describe('an unrolled member', () => {
  it.each([
    [1, 'channelsLast' as const],
    [4, 'channelsLast' as const],
    [3, 'channelsFirst' as const],
  ])('of BatchEnsemble predicts what it predicted inside: %i, %s', async (count, dataFormat) => {
    const x = normal(7, ...(dataFormat === 'channelsLast' ? [5, 6, 3] : [3, 5, 6]));
    const members = await expectUnrolled(convolutional(count, dataFormat), x);
    expect(members).toHaveLength(count);
    expect(topologyOf(members[0])).not.toMatch(/BatchEnsemble|Mean/);
  });

  it.each([1, 3])('of MIMO predicts what it predicted inside: %i', async (count) => {
    const members = await expectUnrolled(mimoOf(count), normal(5, 4));
    expect(members).toHaveLength(count);
    // Outputs are known by the names of their layers.
    expect(members[0].outputNames).toEqual(['gaussian', 'gaussian_1']);
    expect(topologyOf(members[0])).not.toMatch(/Mimo|MeanOfMembers/);
  });

  it('is written to ONNX, as the network around it is not', async () => {
    for (const [model, x] of [
      [convolutional(2, 'channelsLast'), normal(3, 5, 6, 3)],
      [mimoOf(2), normal(3, 4)],
    ] as const) {
      // prettier-ignore
      const [, member] = await expectUnrolled(model, x);
      const found = await runOnnx(modelFile(member), { x0: { shape: [...x.shape], data: x.dataSync<'float32'>() } });
      [member.predict(x)].flat().forEach((output, i) => {
        const expected = output.dataSync();
        found[`y${i}`].data.forEach((value, at) => expect(value).toBeCloseTo(expected[at], 4));
      });
      expect(() => modelFile(model)).toThrow('tutti ensemble <run> --method unroll');
    }
  });

  it('needs a network with inner members', async () => {
    const model = tf.sequential({ layers: [dense({ units: 1, inputShape: [2] })] });
    await expect(unroll(model)).rejects.toThrow('The model of a test has no inner members');
  });
});

describe('layers of BatchEnsemble', () => {
  it('have the kernel W ∘ (r sᵀ) for each member, for all sizes', () =>
    fc.assert(
      fc.property(sizes, sizes, sizes, fc.integer({ min: 0, max: 5 }), (members, inputs, units, samples) => {
        const layer = batchEnsemble({ members }).dense({ units, inputShape: [inputs] });
        disturb(tf.sequential({ layers: [layer] }));
        const [w, b, r, s] = layer.getWeights().map((weight) => weight.arraySync() as number[][]);
        const x = normal(members * samples, inputs);
        const rows = x.arraySync() as number[][];
        const found = (layer.apply(x) as Tensor).arraySync() as number[][];
        expect(found).toHaveLength(members * samples);
        found.forEach((row, at) => {
          const m = Math.floor(at / samples);
          row.forEach((value, o) => {
            const terms = rows[at].map((input, i) => input * w[i][o] * r[m][i] * s[m][o]);
            expect(value).toBeCloseTo(
              terms.reduce((sum, term) => sum + term, b[m][o]),
              4,
            );
          });
        });
      }),
      { seed: 6, numRuns: 40 },
    ));

  it('begin with random signs, or with the values of another initializer', async () => {
    const layer = batchEnsemble({ members: 4 }).dense({ units: 30, inputShape: [50] });
    await withSeededMathRandom(new Generator(5, 'signs'), () => void tf.sequential({ layers: [layer] }));
    const [kernel, bias, r, s] = layer.getWeights().map((weight) => [...weight.dataSync()]);
    expect(kernel).toHaveLength(1500);
    expect(bias).toEqual(Array(120).fill(0));
    for (const factors of [r, s]) expect(new Set(factors)).toEqual(new Set([-1, 1]));
    // Three standard errors of a share of a half.
    const positive = [...r, ...s].filter((value) => value > 0).length / 320;
    expect(Math.abs(positive - 0.5)).toBeLessThan(0.084);
    const ones = batchEnsemble({ members: 2 }).dense({ units: 2, factorInitializer: 'ones', inputShape: [3] });
    tf.sequential({ layers: [ones] });
    expect([...ones.getWeights()[2].dataSync()]).toEqual(Array(6).fill(1));
  });

  it('keep their options in the description of the model', async () => {
    const model = tf.sequential({
      layers: [
        batchEnsemble({ members: 2, training: 'split' }).inputs({ inputShape: [3] }),
        batchEnsemble({ members: 2 }).dense({
          units: 2,
          factorInitializer: tf.initializers.randomNormal({ mean: 1, stddev: 0.5 }),
        }),
        batchEnsemble({ members: 2 }).outputs({ task: 'multi-label' }),
      ],
    });
    const again = await modelFromTopology(topologyOf(model), 'a test');
    expect(topologyOf(again)).toBe(topologyOf(model));
    expect(topologyOf(again)).toContain('"training":"split"');
  });

  it('refuse rows that the members cannot share', () => {
    const { inputs, dense: ofMembers } = batchEnsemble({ members: 4, training: 'split' });
    const five = tf.ones([5, 2]);
    expect(() => inputs({ name: 'all' }).apply(five, { training: true })).toThrow(
      'Layer "all" gets 5 rows, which 4 members cannot share evenly. Choose a batchSize',
    );
    expect((inputs().apply(five, { training: false }) as Tensor).shape).toEqual([20, 2]);
    expect(() => ofMembers({ units: 1 }).apply(five)).toThrow('Put the inputs() of batchEnsemble before it.');
    expect(() => batchEnsemble({ members: 2, training: 'tile' as 'split' }).inputs()).toThrow('"repeat" or "split"');
  });
});

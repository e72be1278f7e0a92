import { beforeAll, describe, expect, it } from 'vitest';
import { combineMembers } from '../../../core/ensemble/combine-members.ts';
import type { EnsembleDescription } from '../../../core/ensemble/schema.ts';
import type { Calibration } from '../../../core/postprocessing/schema.ts';
import { calibratedProbabilities } from '../../../core/postprocessing/calibration/apply-calibration.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { about, expectClose, fileOf, rounded, scaledBy, seeded } from './ensemble-files.ts';
import { runOnnx } from './run-onnx.ts';

beforeAll(() => startBackend('cpu'));

describe('an ensemble as ONNX', () => {
  it('averages the probabilities of classes, with the entropies in nats', async () => {
    // Logits ln 3 and 0 give the first member (3/4, 1/4); the other one, of the opposite sign, (1/4, 3/4).
    const file = fileOf(about('classification'), [scaledBy(1, 2), scaledBy(-1, 2)]);
    const outputs = await runOnnx(file, { features: { shape: [1, 2], data: Float32Array.of(Math.log(3), 0) } });
    expect(Object.fromEntries(Object.entries(outputs).map(([name, { shape }]) => [name, shape]))).toEqual({
      mean: [1, 2],
      members: [1, 2, 2],
      entropy: [1],
      mutual_information: [1],
    });
    expect(rounded(outputs.members.data)).toEqual([0.75, 0.25, 0.25, 0.75]);
    expect(rounded(outputs.mean.data)).toEqual([0.5, 0.5]);
    // H(1/2) = ln 2; H(1/4) = 2 ln 2 - 3/4 ln 3 = 0.56234.
    expect(rounded(outputs.entropy.data)).toEqual([0.69315]);
    expect(rounded(outputs.mutual_information.data)).toEqual([0.13081]);
  });

  it('multiplies probabilities where the ensemble is a product', async () => {
    const product = { ...about('classification'), combination: 'product' as const };
    const file = fileOf(product, [scaledBy(1, 2), scaledBy(3, 2)]);
    const { mean } = await runOnnx(file, { features: { shape: [1, 2], data: Float32Array.of(Math.log(2), 0) } });
    // The mean of the logits is 2 ln 2: (4/5, 1/5).
    expect(rounded(mean.data)).toEqual([0.8, 0.2]);
  });

  it('multiplies those of labels and counts too', async () => {
    const productOf = (task: EnsembleDescription['task']) => ({ ...about(task), combination: 'product' as const });
    const models = () => [scaledBy(1, 1), scaledBy(3, 1)];
    const features = { shape: [1, 1], data: Float32Array.of(Math.log(2)) };
    // The mean of the logits is 2 ln 2.
    const labels = await runOnnx(fileOf(productOf('multi-label'), models()), { features });
    expect(rounded(labels.mean.data)).toEqual([0.8]);
    // Rates 2 and 8: their geometric mean is 4, and their deviation around 5 is 3.
    const counts = await runOnnx(fileOf(productOf('poisson-regression'), models()), { features });
    const [mean, aleatoric, deviation, epistemic] = [
      counts.mean,
      counts.aleatoric,
      counts.standard_deviation,
      counts.epistemic,
    ];
    expect([mean, aleatoric, deviation, epistemic].map(({ data }) => rounded(data)[0])).toEqual([4, 2, 2, 3]);
  });

  it('calibrates the product, not the mean', async () => {
    const product = { ...about('classification'), combination: 'product' as const };
    const calibration = { method: 'pooled-temperature' as const, temperature: 2 };
    const file = fileOf(product, [scaledBy(1, 2), scaledBy(3, 2)], null, calibration);
    const { mean } = await runOnnx(file, { features: { shape: [1, 2], data: Float32Array.of(Math.log(2), 0) } });
    // softmax of half the mean logits, ln 2 and 0: (2/3, 1/3).
    expect(rounded(mean.data)).toEqual([0.66667, 0.33333]);
    const labels = { ...about('multi-label'), combination: 'product' as const };
    const platt = { method: 'labels' as const, fit: 'platt' as const, scale: [0.5], bias: [Math.log(2)] };
    const of = fileOf(labels, [scaledBy(1, 1), scaledBy(3, 1)], null, platt);
    const found = await runOnnx(of, { features: { shape: [1, 1], data: Float32Array.of(Math.log(2)) } });
    expect(rounded(found.mean.data)).toEqual([0.8]);
  });

  it('gives both classes of a binary task', async () => {
    const file = fileOf(about('binary'), [scaledBy(1, 1), scaledBy(1, 1)]);
    const { mean, mutual_information: information } = await runOnnx(file, {
      features: { shape: [2, 1], data: Float32Array.of(Math.log(3), -200) },
    });
    expect(rounded(mean.data)).toEqual([0.25, 0.75, 1, 0]);
    expect(rounded(information.data)).toEqual([0, 0]);
  });

  it('gives the probabilities of ordered classes', async () => {
    // P(y > 0) = 3/4 and P(y > 1 | y >= 1) = 1/3: classes (1/4, 1/2, 1/4).
    const file = fileOf(about('ordinal', 1), [scaledBy(1, 2)]);
    const { mean } = await runOnnx(file, {
      features: { shape: [1, 2], data: Float32Array.of(Math.log(3), -Math.LN2) },
    });
    expect(rounded(mean.data)).toEqual([0.25, 0.5, 0.25]);
  });

  it('combines at each position of a sample', async () => {
    const x = tf.input({ shape: [null, 2] });
    const model = tf.model({ inputs: x, outputs: tf.layers.activation({ activation: 'linear' }).apply(x) as typeof x });
    const file = fileOf(about('ordinal', 1), [model]);
    const data = Float32Array.of(Math.log(3), -Math.LN2, 0, 0);
    const { mean, entropy } = await runOnnx(file, { features: { shape: [1, 2, 2], data } });
    expect(mean.shape).toEqual([1, 2, 3]);
    expect(rounded(mean.data)).toEqual([0.25, 0.5, 0.25, 0.5, 0.25, 0.25]);
    // H = 1.5 ln 2 in both.
    expect(entropy.shape).toEqual([1, 2]);
    expect(rounded(entropy.data)).toEqual([1.03972, 1.03972]);
  });

  it('gives each label its own entropy', async () => {
    const file = fileOf(about('multi-label'), [scaledBy(1, 2), scaledBy(-1, 2)]);
    const outputs = await runOnnx(file, { features: { shape: [1, 2], data: Float32Array.of(Math.log(3), 0) } });
    expect(rounded(outputs.mean.data)).toEqual([0.5, 0.5]);
    expect(rounded(outputs.entropy.data)).toEqual([0.69315, 0.69315]);
    expect(rounded(outputs.mutual_information.data)).toEqual([0.13081, 0]);
  });

  it("returns values and deviations in the targets' unit", async () => {
    const target = { kind: 'values' as const, columns: ['y'], mean: [10], std: [2] };
    const file = fileOf(about('regression'), [scaledBy(1, 1), scaledBy(3, 1)], { format: 1, steps: [], target });
    const outputs = await runOnnx(file, { features: { shape: [1, 1], data: Float32Array.of(1) } });
    // Members predict 10 + 2 · 1 = 12 and 10 + 2 · 3 = 16.
    expect(rounded(outputs.members.data)).toEqual([12, 16]);
    expect(rounded(outputs.mean.data)).toEqual([14]);
    expect(rounded(outputs.epistemic.data)).toEqual([2]);
  });

  it('keeps the deviation of members around a mean that is far from 0, of which values are float64', async () => {
    const target = { kind: 'values' as const, columns: ['y'], mean: [1e8], std: [2] };
    const models = [scaledBy(0.251, 1), scaledBy(0.249, 1)];
    const file = fileOf(about('regression'), models, { format: 1, steps: [], target });
    const outputs = await runOnnx(file, { features: { shape: [1, 1], data: Float32Array.of(1) } });
    expect(rounded([...outputs.members.data].map((value) => value - 1e8))).toEqual([0.502, 0.498]);
    expect(rounded([...outputs.mean.data].map((value) => value - 1e8))).toEqual([0.5]);
    expect(rounded(outputs.epistemic.data)).toEqual([0.002]);
    expect(rounded(outputs.standard_deviation.data)).toEqual([0.002]);
    expect([outputs.mean.data, outputs.members.data].map((data) => data.constructor)).toEqual([
      Float64Array,
      Float64Array,
    ]);
    expect(outputs.epistemic.data).toBeInstanceOf(Float32Array);
    // Up to |mean| / std = 2^24 / 1000 float32 rounds by less than a thousandth of the deviation.
    const near = { ...target, mean: [30_000] };
    const others = await runOnnx(fileOf(about('regression'), models, { format: 1, steps: [], target: near }), {
      features: { shape: [1, 1], data: Float32Array.of(1) },
    });
    expect(others.mean.data).toBeInstanceOf(Float32Array);
    expect(rounded(others.epistemic.data)).toEqual([0.002]);
  });

  it('takes rates of counts for their variance', async () => {
    const file = fileOf(about('poisson-regression'), [scaledBy(1, 1), scaledBy(1, 1)]);
    const outputs = await runOnnx(file, { features: { shape: [1, 1], data: Float32Array.of(Math.log(9)) } });
    expect(rounded(outputs.mean.data)).toEqual([9]);
    expect(rounded(outputs.aleatoric.data)).toEqual([3]);
    expect(rounded(outputs.epistemic.data)).toEqual([0]);
    expect(rounded(outputs.standard_deviation.data)).toEqual([3]);
  });
});

describe('calibration in an ONNX file', () => {
  const logits = [
    [2, 0.5, -1],
    [-0.3, 0.1, 3],
  ];
  const features = { shape: [2, 3], data: Float32Array.from(logits.flat()) };
  const models = () => [scaledBy(1, 3), scaledBy(2, 3)];
  const stack = {
    members: 2,
    samples: 2,
    classes: 3,
    logits: Float32Array.from([...logits.flat(), ...logits.flat().map((value) => 2 * value)]),
  };

  it.each<Calibration>([
    { method: 'temperature', fit: 'joint', temperatures: [2, 0.7] },
    { method: 'pooled-temperature', temperature: 1.7 },
    { method: 'vector', scale: [1, 0.5, 2], bias: [0.1, 0, -0.3] },
    {
      method: 'dirichlet',
      weights: [
        [1, 0.2, 0],
        [0, 1, -0.4],
        [0.3, 0, 0.8],
      ],
      bias: [0, 0.5, -0.5],
    },
    {
      method: 'isotonic',
      classes: [
        { from: [0.1, 0.4, 0.9], to: [0, 0.5, 1] },
        { from: [0.2], to: [0.3] },
        { from: [0, 0.5, 0.5, 1], to: [0, 0.2, 0.6, 0.6] },
      ],
    },
  ])('applies $method', async (calibration) => {
    const { mean } = await runOnnx(fileOf(about('classification'), models(), null, calibration), { features });
    expectClose(mean.data, calibratedProbabilities(calibration, stack).values);
  });

  it('applies a scale and a bias of each label', async () => {
    const calibration: Calibration = { method: 'labels', fit: 'platt', scale: [0.5, 1, 2], bias: [0.1, -0.2, 0.3] };
    const file = fileOf(about('multi-label'), models(), null, calibration);
    const { mean, entropy, mutual_information } = await runOnnx(file, { features });
    const postprocessing = { calibration, conformal: null, outside: null, selective: null };
    const given = { kind: 'label-logits', members: 2, samples: 2, width: 3, values: [stack.logits] } as const;
    const expected = combineMembers(given, { task: 'multi-label', combination: 'mean', postprocessing });
    expectClose(mean.data, expected.mean);
    if (expected.kind !== 'labels') throw new Error('Labels were predicted.');
    expectClose(entropy.data, expected.entropy);
    expectClose(mutual_information.data, expected.mutualInformation);
  });

  it('scales standard deviations of counts', async () => {
    const calibration: Calibration = { method: 'sigma', scales: [0.5] };
    const file = fileOf(about('poisson-regression'), [scaledBy(1, 1), scaledBy(2, 1)], null, calibration);
    const outputs = await runOnnx(file, { features: { shape: [1, 1], data: Float32Array.of(Math.log(2)) } });
    // Rates 2 and 4.
    expect(rounded(outputs.mean.data)).toEqual([3]);
    // Deviations 1 and √3 times 0.5, together √(3 + 1) times 0.5.
    expect(rounded(outputs.epistemic.data)).toEqual([0.5]);
    expect(rounded(outputs.aleatoric.data)).toEqual(rounded([Math.sqrt(3) / 2]));
    expect(rounded(outputs.standard_deviation.data)).toEqual([1]);
  });

  it('scales standard deviations', async () => {
    const calibration: Calibration = { method: 'sigma', scales: [0.5] };
    const file = fileOf(about('regression'), [scaledBy(1, 1), scaledBy(3, 1)], null, calibration);
    const outputs = await runOnnx(file, { features: { shape: [1, 1], data: Float32Array.of(1) } });
    expect(rounded(outputs.mean.data)).toEqual([2]);
    expect(rounded(outputs.epistemic.data)).toEqual([0.5]);
    expect(rounded(outputs.standard_deviation.data)).toEqual([0.5]);
  });
});

describe('layers in context', () => {
  it('keeps the states of masked steps, wherever they are', async () => {
    const x = tf.input({ shape: [4, 2] });
    const masked = tf.layers.masking({ maskValue: 0 }).apply(x);
    const recurrent = [
      tf.layers.lstm({ units: 3, returnSequences: true }),
      tf.layers.gru({ units: 2, activation: 'selu' }),
    ];
    const y = recurrent.reduce((value, layer) => layer.apply(value), masked) as typeof x;
    const both = tf.layers.bidirectional({ layer: tf.layers.simpleRNN({ units: 2 }) }).apply(masked) as typeof x;
    const model = seeded(tf.model({ inputs: x, outputs: tf.layers.concatenate().apply([y, both]) as typeof x }));
    const data = Float32Array.of(0.5, -1, 0, 0, 0.3, 2, 1, 1, 0, 0, 1, -0.5, 0.1, 0.2, 0, 0);
    const expected = model.predict(tf.tensor3d(data, [2, 4, 2])) as ReturnType<typeof tf.tensor>;
    const file = fileOf(about('regression', 1), [model]);
    const { mean } = await runOnnx(file, { features: { shape: [2, 4, 2], data } });
    expectClose(mean.data, expected.dataSync());
  });

  it('writes nested models, layers of each step and states', async () => {
    const x = tf.input({ shape: [3, 4] });
    const inner = tf.sequential({
      layers: [tf.layers.dense({ units: 5, activation: 'mish', inputShape: [4] }), tf.layers.dense({ units: 2 })],
    });
    const steps = tf.layers.timeDistributed({ layer: inner }).apply(x) as typeof x;
    const [, h, c] = tf.layers.lstm({ units: 3, returnState: true }).apply(steps) as (typeof x)[];
    const repeated = tf.layers.repeatVector({ n: 2 }).apply(h) as typeof x;
    const decoded = tf.layers.lstm({ units: 3 }).apply(repeated, { initialState: [h, c] }) as typeof x;
    const model = seeded(tf.model({ inputs: x, outputs: decoded }));
    const data = tf.randomNormal([2, 3, 4], 0, 1, 'float32', 5);
    const expected = model.predict(data) as typeof data;
    const file = fileOf(about('regression', 1), [model]);
    const { mean } = await runOnnx(file, { features: { shape: [2, 3, 4], data: data.dataSync<'float32'>() } });
    expectClose(mean.data, expected.dataSync());
  });

  it('refuses a layer that ONNX lacks by its name', () => {
    const x = tf.input({ shape: [8, 8, 3] });
    const layer = tf.layers.resizing({ height: 4, width: 4, name: 'smaller' });
    const y = tf.layers.flatten().apply(layer.apply(x)) as typeof x;
    const model = tf.model({ inputs: x, outputs: y });
    expect(() => fileOf(about('regression', 1), [model])).toThrow(
      'Layer "smaller" (Resizing) cannot be exported to ONNX',
    );
  });
});

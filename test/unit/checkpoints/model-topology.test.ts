import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { keepTopology, readTopology } from '../../../workers/checkpoints/layers-model.ts';
import { type LayersModel, type SymbolicTensor, type Tensor, tf } from '../../../workers/tensorflow/tf.ts';
import {
  describeDifference,
  isSelfContained,
  modelFromTopology,
  topologyOf,
} from '../../../workers/tensorflow/topology.ts';
import { readWeights, weightNames, writeWeights } from '../../../workers/member/weights.ts';
import { temporaryFolder } from '../store/fixtures.ts';

type Layer = InstanceType<typeof tf.layers.Layer>;

class Doubling extends tf.layers.Layer {
  static className = 'Doubling';

  override call(inputs: Tensor | Tensor[]): Tensor {
    return tf.mul(Array.isArray(inputs) ? inputs[0] : inputs, 2);
  }
}

/** Two branches that merge: layers named by tfjs and by the project, a wrapper and a normalisation. */
function branched(): LayersModel {
  const input = tf.input({ shape: [4, 3] });
  const left = tf.layers.bidirectional({ layer: tf.layers.lstm({ units: 2 }), mergeMode: 'concat' });
  const right = tf.layers.dense({ units: 4, activation: 'tanh', name: 'right' });
  const flat = tf.layers.flatten().apply(right.apply(input)) as SymbolicTensor;
  const joined = tf.layers.concatenate().apply([left.apply(input) as SymbolicTensor, flat]) as SymbolicTensor;
  const normed = tf.layers.batchNormalization().apply(joined);
  const outputs = tf.layers.dense({ units: 2, kernelRegularizer: tf.regularizers.l2({ l2: 0.5 }) }).apply(normed);
  return tf.model({ inputs: input, outputs: outputs as SymbolicTensor });
}

function sequential(activation: 'relu' | 'tanh', last: Layer = tf.layers.dense({ units: 3 })): LayersModel {
  return tf.sequential({ layers: [tf.layers.dense({ units: 5, inputShape: [2], activation }), last] });
}

beforeAll(async () => void (await startBackend('cpu')));

describe('the description of a model', () => {
  it('is the same for the same model, whatever the process has built before', () => {
    const [first, second] = [branched(), branched()];
    expect(first.layers[3].name).not.toBe(second.layers[3].name);
    expect(topologyOf(second)).toBe(topologyOf(first));
    expect(topologyOf(sequential('relu'))).toBe(topologyOf(sequential('relu')));
  });

  it('builds a model with the same weight names and the same results', async () => {
    const original = branched();
    const rebuilt = await modelFromTopology(topologyOf(original), 'a test');
    expect(weightNames(rebuilt)).toEqual(weightNames(original));
    writeWeights(rebuilt, await readWeights(original), 'The original');
    const input = tf.randomNormal([5, 4, 3], 0, 1, 'float32', 7);
    const [expected, found] = [original, rebuilt].map((model) => (model.predict(input) as Tensor).arraySync());
    expect(found).toEqual(expected);
  });

  it('names the setting in which two models differ', () => {
    const [before, after] = [topologyOf(sequential('relu')), topologyOf(sequential('tanh'))];
    expect(describeDifference(before, after)).toBe('model.config.layers.0.config.activation is "tanh", it was "relu"');
    expect(describeDifference(before, before)).toBeNull();
  });

  it('rebuilds an embedding inside a model, which then states its default type', async () => {
    const input = tf.input({ name: 'words', shape: [6] });
    const words = tf.layers.embedding({ inputDim: 50, outputDim: 4 }).apply(input) as SymbolicTensor;
    const output = tf.layers.globalAveragePooling1d({}).apply(words) as SymbolicTensor;
    const rebuilt = await modelFromTopology(topologyOf(tf.model({ inputs: input, outputs: output })), 'the run');
    expect(rebuilt.inputs[0].shape).toEqual([null, 6]);
  });

  it('needs the project if a layer is custom, registered or not', () => {
    expect(isSelfContained(topologyOf(branched()))).toBe(true);
    const own = topologyOf(sequential('relu', new Doubling()));
    expect(isSelfContained(own)).toBe(false);
    tf.serialization.registerClass(Doubling);
    expect(isSelfContained(own)).toBe(false);
  });
});

it('a stored description reads back, and is refused after a change', async () => {
  const folder = await temporaryFolder();
  const text = topologyOf(sequential('relu'));
  const sha256 = await keepTopology(folder, 3, text);
  expect(await keepTopology(folder, 3, text)).toBe(sha256);
  expect(await readTopology(folder, 3, sha256)).toBe(text);
  const path = join(folder, 'models', 'rank-3', `${sha256}.json`);
  await writeFile(path, (await readFile(path, 'utf8')).replace('relu', 'tanh'));
  await expect(readTopology(folder, 3, sha256)).rejects.toThrow(`${path} was damaged or changed`);
  await expect(readTopology(folder, 0, sha256)).rejects.toThrow('is missing: it holds the model of rank 0');
});

it('rebuilds a model that begins with an embedding', async () => {
  const { embedding, gru, dense } = tf.layers;
  const layers = [embedding({ inputDim: 4, outputDim: 2, inputLength: 3 }), gru({ units: 2 }), dense({ units: 1 })];
  const text = topologyOf(tf.sequential({ layers }));
  const model = await modelFromTopology(text, 'a test');
  expect(describeDifference(text, topologyOf(model))).toBeNull();
});

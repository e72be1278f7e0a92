import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { graphOf } from '../../../workers/tensorflow/model-graph.ts';
import { type LayersModel, type SymbolicTensor, tf, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { modelFromTopology, topologyOf } from '../../../workers/tensorflow/topology.ts';
import { modelFile, runOnnx } from '../onnx/run-onnx.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;
const e = [1, -2, 3];

type Layer = LayersModel['layers'][number];
type Apply = (inputs: SymbolicTensor[]) => SymbolicTensor;

/** A model whose e = x + 0 goes to a layer several times, and then, or before, to the others. */
function modelOf(build: (e: SymbolicTensor) => SymbolicTensor | SymbolicTensor[]): LayersModel {
  const x = tf.input({ shape: [3] });
  const identity = layers.dense({ units: 3, kernelInitializer: 'identity' }).apply(x) as SymbolicTensor;
  return tf.model({ inputs: x, outputs: build(identity) });
}

const valuesOf = (output: Tensor | Tensor[]): number[] => [output].flat().flatMap((tensor) => [...tensor.dataSync()]);
const answers = (model: LayersModel): number[] => valuesOf(model.predict(tf.tensor2d([e])));
const merge =
  (layer: Layer): Apply =>
  (inputs) =>
    layer.apply(inputs) as SymbolicTensor;

const kinds: [string, () => Apply, number[]][] = [
  ['add', () => merge(layers.add()), [2, -4, 6]],
  ['average', () => merge(layers.average()), e],
  ['maximum', () => merge(layers.maximum()), e],
  ['minimum', () => merge(layers.minimum()), e],
  ['multiply', () => merge(layers.multiply()), [1, 4, 9]],
  ['concatenate', () => merge(layers.concatenate()), [...e, ...e]],
  ['dot', () => merge(layers.dot({ axes: -1 })), [14]],
];

describe('a tensor that is several inputs of one layer', () => {
  it.each(kinds)('of %s is still there for layers that are called later', (_, layer, values) => {
    const model = modelOf((own) => {
      const relu = layers.activation({ activation: 'relu' }).apply(own) as SymbolicTensor;
      // TensorFlow.js computes the last input first.
      return merge(layers.concatenate())([relu, layer()([own, own])]);
    });
    expect(answers(model)).toEqual([1, 0, 3, ...values]);
    expect(answers(model)).toEqual([1, 0, 3, ...values]);
  });

  it('may be so in several layers, three times, and beside others', () => {
    const model = modelOf((own) => {
      const thrice = merge(layers.add())([own, own, own]);
      const square = merge(layers.multiply())([own, own]);
      return merge(layers.add())([own, thrice, square, thrice]);
    });
    expect(answers(model)).toEqual([8, -10, 30]);
  });

  it('may be the input of the model, and that of a model that is a layer', () => {
    const [a, b] = [tf.input({ shape: [3] }), tf.input({ shape: [3] })];
    const inner = tf.model({ inputs: [a, b], outputs: merge(layers.multiply())([a, b]) });
    const outer = modelOf((own) => merge(layers.add())([own, merge(inner)([own, own])]));
    expect(answers(outer)).toEqual([2, 2, 12]);
    const x = tf.input({ shape: [3] });
    const model = tf.model({ inputs: x, outputs: merge(layers.add())([x, merge(layers.add())([x, x])]) });
    expect(answers(model)).toEqual([3, -6, 9]);
  });

  it('keeps no tensor after a prediction', () => {
    const model = modelOf((own) => merge(layers.add())([merge(layers.multiply())([own, own]), own]));
    tf.dispose(model.predict(tf.tensor2d([e])));
    const before = tf.memory().numTensors;
    for (let i = 0; i < 3; i += 1) tf.tidy(() => void model.predict(tf.tensor2d([e])));
    expect(tf.memory().numTensors).toBe(before);
  });

  it('has the same graph, topology and ONNX file as ever', async () => {
    const model = modelOf((own) => merge(layers.add())([merge(layers.multiply())([own, own]), own]));
    expect(graphOf(model).calls.map(({ inputs }) => inputs)).toEqual([[0], [1, 1], [2, 1]]);
    const rebuilt = await modelFromTopology(topologyOf(model), 'the model');
    rebuilt.setWeights(model.getWeights());
    expect(answers(rebuilt)).toEqual([2, 2, 12]);
    const { y0 } = await runOnnx(modelFile(model), { x0: { shape: [1, 3], data: Float32Array.from(e) } });
    expect([...y0.data]).toEqual([2, 2, 12]);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { Generator } from '../../../workers/random/index.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { Value } from '../../reference/value.ts';
import { layerCases } from '../backends/op-matrix/cases/layer-cases.ts';
import { buildLayer, type LayerCall, weightsOf } from '../backends/op-matrix/cases/layer-call.ts';
import { Draw, type OpSample, type Values } from '../backends/op-matrix/op-case.ts';
import { modelFile, runOnnx } from './run-onnx.ts';

beforeAll(() => startBackend('cpu'));

/** Draws of each layer: more in the nightly form. */
const draws = Number(process.env.TUTTI_ONNX_DRAWS ?? 3);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 14);

/** A model of one layer with a sample's weights, its inputs' values, and whether the layer takes ids. */
function modelOf(call: LayerCall, sample: OpSample): { model: LayersModel; values: readonly Values[] } {
  const { ids } = call.options as { ids?: number[][] };
  const values =
    ids === undefined
      ? sample.inputs.slice(0, call.values)
      : [{ shape: [ids.length, ids[0].length], data: Float32Array.from(ids.flat()) }];
  const inputs = values.map(({ shape }) => tf.input({ batchShape: [null, ...shape.slice(1)] }));
  const layer = buildLayer(call, values[0].shape);
  const output = layer.apply(inputs.length === 1 ? inputs[0] : inputs) as SymbolicTensor;
  weightsOf(call, layer).forEach((weight, i) => {
    const { shape, data } = sample.inputs[call.values + i];
    (weight.read() as unknown as { assign(value: Tensor): void }).assign(tf.tensor(data, shape));
  });
  return { model: tf.model({ inputs, outputs: output }), values };
}

describe('layers as ONNX, run by ONNX Runtime, against the float64 reference', () => {
  // In training, batch normalization uses the batch's moments, which no file has.
  const cases = layerCases.filter(({ op }) => op !== 'layers.batchNormalization');

  it.each(cases.map((own) => [own.op, own] as const))('%s', async (op, own) => {
    const random = Draw.from(new Generator(seed, op));
    for (let at = 0; at < draws; at += 1) {
      const sample = own.draw(random);
      const call = sample.layer as LayerCall;
      const { model, values } = modelOf(call, sample);
      const feeds = Object.fromEntries(values.map((value, i) => [`x${i}`, value]));
      const { y0 } = await runOnnx(modelFile(model), feeds);
      const expected = sample.reference(sample.inputs.map(({ shape, data }) => new Value([...data], shape)));
      const about = JSON.stringify({ ...call.options, shapes: sample.inputs.map(({ shape }) => shape) });
      expect(y0.shape, about).toEqual(expected.shape);
      const largest = Math.max(
        ...y0.data.map((value, i) => Math.abs(value - expected.data[i]) / Math.max(1, Math.abs(expected.data[i]))),
      );
      expect(largest, about).toBeLessThan(1e-5);
      model.dispose();
    }
  });
});

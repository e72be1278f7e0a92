import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { Generator } from '../../../workers/random/index.ts';
import { Value } from '../../reference/value.ts';
import { layerCases } from '../backends/op-matrix/cases/layer-cases.ts';
import { buildLayer, type LayerCall, weightsOf } from '../backends/op-matrix/cases/layer-call.ts';
import { Draw, type OpCase, type OpSample, type Values } from '../backends/op-matrix/op-case.ts';

/** A model of one layer, with inputs and what the float64 reference computes from them. */
export interface LayerModel {
  model: LayersModel;
  inputs: readonly Values[];
  expected: Value;
  /** Options and shapes, for messages. */
  about: string;
}

/**
 * The op matrix's layers in inference mode: in training, batch normalization uses the batch's moments, which no file
 * has.
 */
export const exportedCases = layerCases.filter(({ op }) => op !== 'layers.batchNormalization');

/** Draws options, weights and values of a layer. */
export function* drawModels(
  { op, draw }: Pick<OpCase, 'op'> & { draw: (random: Draw) => OpSample },
  draws: number,
  seed: number,
) {
  const random = Draw.from(new Generator(seed, op));
  for (let at = 0; at < draws; at += 1) {
    const sample = draw(random);
    const call = sample.layer as LayerCall;
    const expected = sample.reference(sample.inputs.map(({ shape, data }) => new Value([...data], shape)));
    const about = JSON.stringify({ ...call.options, shapes: sample.inputs.map(({ shape }) => shape) });
    yield { ...modelOf(call, sample), expected, about } satisfies LayerModel;
  }
}

function modelOf(call: LayerCall, sample: OpSample): Pick<LayerModel, 'model' | 'inputs'> {
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
  return { model: tf.model({ inputs, outputs: output }), inputs: values };
}

/** The largest error, relative to values above 1. */
export function largestError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  return Math.max(
    ...Array.from(found, (value, i) => Math.abs(value - expected[i]) / Math.max(1, Math.abs(expected[i]))),
  );
}

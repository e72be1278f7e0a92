import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import { type LayerOptions, factories } from '../../../workers/tensorflow/layers/tensorflow-layers.ts';
import {
  tf,
  type LayersModel,
  type Scalar,
  type SymbolicTensor,
  type Tensor,
  type Variable,
} from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { notRun } from '../../environment/reasons.ts';

interface Values {
  shape: number[];
  data: number[];
}

/** PyTorch's results in float64 for a layer and for the loss Σ y · dy. */
interface LayerCase {
  kind: string;
  options: LayerOptions;
  x: Values;
  weights: Values[];
  y: Values;
  dy: Values;
  /** Gradients of x, then of each weight. */
  gradients: Values[];
  /**
   * The value in inference with `buffers`, the moving mean and variance, which the training step updates to `moved`.
   */
  inference?: Values;
  buffers?: Values[];
  moved?: Values[];
}

const { cases } = readGolden('tensorflow-layers/tensorflow-layers.json') as { cases: LayerCase[] };

function tensorOf({ shape, data }: Values): Tensor {
  return tf.tensor(data, shape);
}

/** max|a − b| / max(1, max|b|), or NaN where any number is NaN. */
function relativeError(found: Tensor, { shape, data }: Values): number {
  expect(found.shape).toEqual(shape);
  const values = found.dataSync();
  const scale = data.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1);
  return data.reduce((worst, value, i) => Math.max(worst, Math.abs(values[i] - value) / scale), 0);
}

/** A model of the layer alone, as users build it, with the case's weights. */
function modelOf({ kind, options, x, weights, buffers = [] }: LayerCase): LayersModel {
  const input = tf.input({ shape: x.shape.slice(1) });
  const layer = factories[kind](options) as unknown as { apply(input: SymbolicTensor): SymbolicTensor };
  const model = tf.model({ inputs: input, outputs: layer.apply(input) });
  const values = [...weights, ...buffers].map(tensorOf);
  model.setWeights(values);
  tf.dispose(values);
  return model;
}

function expectAsRecorded(layerCase: LayerCase): void {
  const { x, y, dy, gradients, inference, moved = [] } = layerCase;
  const model = modelOf(layerCase);
  expect(model.outputs[0].shape.slice(1)).toEqual(y.shape.slice(1));
  const input = tf.variable(tensorOf(x));
  const apply = (training: boolean): Tensor => model.apply(input, { training }) as Tensor;
  const variables = [input, ...model.trainableWeights.map((weight) => weight.read() as Variable)];
  expect(relativeError(apply(false), inference ?? y), 'inference').toBeLessThan(1e-5);
  const { grads } = tf.variableGrads(() => tf.sum(tf.mul(apply(true), tensorOf(dy))) as Scalar, variables);
  const averages = model.nonTrainableWeights.map((weight) => weight.read());
  averages.forEach((average, i) => expect(relativeError(average, moved[i]), `moving ${i}`).toBeLessThan(1e-5));
  expect(relativeError(apply(true), y), 'value').toBeLessThan(1e-5);
  variables.forEach(({ name }, i) => {
    expect(relativeError(grads[name], gradients[i]), `gradient ${i}`).toBeLessThan(1e-5);
  });
  input.dispose();
  model.dispose();
}

/** Compares layers that plain TensorFlow.js refuses or computes wrongly with PyTorch in float64. */
export function describeLayers(backend: BackendKind, missing: string | null = null): void {
  describe.skipIf(missing !== null)(`layers on ${backend}${notRun(missing)}`, () => {
    beforeAll(async () => {
      await startBackend(backend);
      tf.engine().startScope();
    });
    afterAll(() => tf.engine().endScope());

    it.each(cases.map((layerCase, i) => ({ name: `${layerCase.kind} ${JSON.stringify(layerCase.options)}`, i })))(
      '$name equals PyTorch, with all gradients',
      ({ i }) => expectAsRecorded(cases[i]),
    );
  });
}

import { crossEntropyLoss, gaussianNllLoss } from '../../../../workers/member/tasks.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { layers, type LayerName } from '../../../reference/layers.ts';
import {
  computeReference,
  inputOf,
  outputGradientOf,
  targetsOf,
  type RecordedCase,
} from '../../../reference/recorded.ts';
import { computeOnBackend, errorsOf, type OpErrors } from './compare.ts';
import { applyLayer, type LayerCall } from './cases/layer-call.ts';
import type { OpSample } from './op-case.ts';

/** A case computed by PyTorch, as a sample of the matrix. */
export function sampleOf(testCase: RecordedCase): OpSample {
  const { layer: name, options, shapes } = testCase;
  const inputs = shapes.map((shape, k) => ({ shape, data: inputOf(testCase, k) }));
  const reference: OpSample['reference'] = (values) => computeReference(testCase, values);
  if (!(name in layers)) return { inputs, options, reference, apply: (tensors) => applyOp(testCase, tensors) };
  const layer: LayerCall = { name: name as LayerName, options, values: 'ids' in options ? 0 : 1 };
  return { inputs, options, reference, layer, apply: (tensors) => applyLayer(layer, tensors) };
}

function applyOp(testCase: RecordedCase, [a, b]: Tensor[]): Tensor {
  const { layer, options } = testCase;
  const targets = (): Tensor => tf.tensor(targetsOf(testCase), a.shape);
  switch (layer) {
    case 'matMul':
      return tf.matMul(a, b, options.transposeA as boolean, options.transposeB as boolean);
    case 'crossEntropy':
      return crossEntropyLoss(a, tf.tensor1d(options.labels as number[], 'int32'));
    case 'sigmoidCrossEntropy':
      return tf.losses.sigmoidCrossEntropy(targets(), a);
    case 'meanSquaredError':
      return tf.losses.meanSquaredError(targets(), a);
    case 'gaussianNll':
      return gaussianNllLoss(a, b, tf.reshape(targets(), [a.size]));
    default:
      throw new Error(`A case of ${layer} is recorded, but no op of TensorFlow.js is named for it.`);
  }
}

/** Compares a recorded case on the current backend with PyTorch's results. */
export async function compareWithRecorded(testCase: RecordedCase): Promise<OpErrors> {
  const found = await computeOnBackend(sampleOf(testCase), outputGradientOf(testCase));
  const known = testCase.gradients.map((gradient, k) => gradient ?? found.gradients?.[k] ?? []);
  return errorsOf(found, { ...testCase, gradients: known });
}

import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { refuseOtherLayers } from '../../../workers/session/preparation/refuse-other-layers.ts';
import { type LayersModel, type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;
const sequential = (...own: LayersModel['layers']): LayersModel => tf.sequential({ layers: own });
const words = (maskZero: boolean) => layers.embedding({ inputDim: 6, outputDim: 2, inputLength: 4, maskZero });
const images = { inputShape: [6, 6, 2] };

/** Two masked sequences, added. */
function added(maskZero: boolean): LayersModel {
  const inputs = [0, 1].map(() => tf.input({ shape: [4] }));
  const embedded = inputs.map(
    (input) => layers.embedding({ inputDim: 6, outputDim: 2, inputLength: 4, maskZero }).apply(input) as SymbolicTensor,
  );
  const sum = layers.add().apply(embedded) as SymbolicTensor;
  return tf.model({ inputs, outputs: layers.lstm({ units: 1 }).apply(sum) as SymbolicTensor });
}

it.each<[string, () => LayersModel, string]>([
  [
    'averages padding',
    () => sequential(words(true), layers.globalAveragePooling1d({ name: 'pool' })),
    '"pool" (GlobalAveragePooling1D) treats masks of padding otherwise',
  ],
  ['joins masks', () => added(true), '(Add) treats masks of padding otherwise'],
  [
    'ignores a dilation',
    () => sequential(layers.depthwiseConv2d({ ...images, kernelSize: 2, dilationRate: 2, name: 'wide' })),
    '"wide" (DepthwiseConv2D) ignores its dilationRate',
  ],
  [
    'transposes, also in a model that is a layer',
    () =>
      sequential(
        sequential(layers.conv1d({ inputShape: [2, 6], filters: 1, kernelSize: 2, dataFormat: 'channelsFirst' })),
        layers.flatten(),
      ),
    '(Conv1D) leaves values of channelsFirst transposed',
  ],
])('a model that TensorFlow.js alone %s in another way is not exported for it', (_, create, difference) => {
  const model = create();
  expect(() => refuseOtherLayers(model, 3)).toThrow(
    'The model of rank 3 would answer otherwise in TensorFlow.js without Tutti: ',
  );
  expect(() => refuseOtherLayers(model, 3)).toThrow(`${difference}. Export the format ensemble, onnx or pytorch.`);
});

it('other models are exported: recurrent layers with a mask, averages without one, and usual convolutions', () => {
  for (const model of [
    sequential(words(true), layers.lstm({ units: 1 })),
    sequential(words(false), layers.globalAveragePooling1d({})),
    added(false),
    sequential(layers.depthwiseConv2d({ ...images, kernelSize: 2 }), layers.conv2d({ filters: 1, kernelSize: 2 })),
  ]) {
    expect(() => refuseOtherLayers(model, 0)).not.toThrow();
  }
});

it('a model whose layers ignore a mask is exported, because TensorFlow.js ignores it too', () => {
  const model = sequential(words(true), layers.flatten(), layers.dense({ units: 1 }));
  expect(() => refuseOtherLayers(model, 0)).not.toThrow();
});

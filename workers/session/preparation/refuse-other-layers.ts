import { callsOf, configOf, type Layer, nestedModel } from '../../exchange/model-calls.ts';
import { innerBatchOf } from '../../member/tasks/inner-members.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import { topologyOf } from '../../tensorflow/topology.ts';
import { correctedByMasks } from './require-used-masks.ts';

/**
 * Other programs know the layers of TensorFlow.js alone, without Tutti's own and without its corrections.
 * @throws Error for models that would answer otherwise
 */
export function refuseOtherLayers(model: LayersModel, rank: number): void {
  refuseDrawnMasks(model, rank);
  refuseInnerMembers(model, rank);
  const masked = correctedByMasks(model).map(
    (layer) => `"${layer.name}" (${layer.getClassName()}) treats masks of padding otherwise`,
  );
  const others = layersOf(model).flatMap((layer) => {
    const difference = differenceOf(layer);
    return difference === null ? [] : [`"${layer.name}" (${layer.getClassName()}) ${difference}`];
  });
  const found = [...masked, ...others];
  if (found.length === 0) return;
  throw new Error(
    `The model of rank ${rank} would answer otherwise in TensorFlow.js without Tutti: ${found.join('; ')}. ` +
      'Export the format ensemble, onnx or pytorch.',
  );
}

function layersOf(model: LayersModel): Layer[] {
  return callsOf(model).flatMap(({ layer }) => {
    const nested = nestedModel(layer);
    return nested === null ? [layer] : layersOf(nested);
  });
}

/** What TensorFlow.js's own layer does without a word; null: the same (`tensorflow/layers/convolutions.ts`). */
function differenceOf(layer: Layer): string | null {
  const kind = layer.getClassName();
  const { dilationRate } = configOf(layer);
  // A saved conv1d does not say it.
  const { dataFormat } = layer as unknown as { dataFormat?: string };
  if (kind === 'DepthwiseConv2D' && [dilationRate].flat().some((rate) => rate > 1)) return 'ignores its dilationRate';
  if (!['Conv1D', 'SeparableConv2D'].includes(kind) || dataFormat !== 'channelsFirst') return null;
  return kind === 'Conv1D'
    ? 'leaves values of channelsFirst transposed'
    : 'adds its bias along another axis with channelsFirst';
}

function refuseDrawnMasks(model: LayersModel, rank: number): void {
  if (!topologyOf(model).includes('"SampledDropout"')) return;
  throw new Error(
    `The model of rank ${rank} has dropout masks that were drawn (--method mc-dropout), and the format tfjs has no ` +
      'layer for them. Export the format ensemble, onnx or pytorch.',
  );
}

function refuseInnerMembers(model: LayersModel, rank: number): void {
  if (innerBatchOf(model) === null) return;
  throw new Error(
    `The model of rank ${rank} has inner members, and the format tfjs has no layers for them. Make them into members ` +
      '(tutti ensemble <run> --method unroll), and export those.',
  );
}

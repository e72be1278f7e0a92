import { openBatches } from '../data/streams/open-batches.ts';
import type { Dataset } from '../data/dataset.ts';
import { batchTensors, modelInputs } from '../member/batch-tensors.ts';
import { outputsOf } from '../member/member.ts';
import { weightVariables } from '../member/weights.ts';
import { type Generator, withSeededMathRandom } from '../random/index.ts';
import type { TensorflowLayer } from '../tensorflow/layers/tensorflow-layers.ts';
import { tf, type LayersModel } from '../tensorflow/tf.ts';

/** Private members of tfjs-layers' batch normalization. */
interface BatchNormalization extends Pick<TensorflowLayer, 'trainable' | 'gamma' | 'beta'> {
  name: string;
  /** Known once the layer is built. */
  inputSpec?: readonly { ndim?: number }[];
  momentum: number;
  movingMean: Statistic;
  movingVariance: Statistic;
}

interface Statistic {
  read(): unknown;
}

interface AnyLayer {
  getClassName(): string;
  layers?: readonly AnyLayer[];
  layer?: AnyLayer;
}

/** Whether a weight, by its name, is a running statistic of batch normalization. */
export const isRunningStatistic = (name: string): boolean => /\/moving_(mean|variance)(_\d+)?$/.test(name);

/** What running statistics are computed from. */
export interface StatisticsSource {
  /** The training split. */
  dataset: Dataset;
  batchSize: number;
  /** Decides the order of the samples, and which values dropout layers drop. */
  generator: Generator;
  /**
   * Whether a statistic, by its name, is computed. A layer with another one is left as it is, as one that was frozen in
   * training.
   */
  isComputed: (name: string) => boolean;
}

/**
 * Computes the running statistics of batch normalization for a model's weights: the means and variances of the training
 * batches, each batch with the number of its samples as weight. Weights that no training reached, such as a mean of
 * others, have no statistics of their own.
 *
 * Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization", UAI 2018; `update_bn`
 * of PyTorch.
 */
export async function computeRunningStatistics(model: LayersModel, source: StatisticsSource): Promise<void> {
  const names = new Map<unknown, string>([...weightVariables(model)].map(([name, variable]) => [variable, name]));
  const isComputed = ({ movingMean }: BatchNormalization): boolean =>
    source.isComputed(names.get(movingMean.read()) ?? '');
  const all = normalizationsOf(model);
  const layers = all.filter((layer) => layer.trainable && isComputed(layer));
  for (const layer of all) layer.trainable = layers.includes(layer);
  if (layers.length === 0) return;
  const momenta = layers.map(({ momentum }) => momentum);
  await withSeededMathRandom(source.generator, () => passBatches(model, layers, source));
  layers.forEach((layer, i) => (layer.momentum = momenta[i]));
}

/**
 * The momentum n / (n + b) makes the running value after a batch of b samples the mean over all n + b samples so far.
 */
async function passBatches(
  model: LayersModel,
  layers: readonly BatchNormalization[],
  { dataset, batchSize, generator }: StatisticsSource,
): Promise<void> {
  const batches = openBatches(dataset);
  // A stream has its own order.
  const order =
    dataset.stream === undefined
      ? generator.permutation(dataset.length)
      : Int32Array.from({ length: dataset.length }, (_, i) => i);
  for (let first = 0, number = 0; first < order.length; first += batchSize, number++) {
    const indices = order.subarray(first, first + batchSize);
    const batch = await batches.batch(indices, { epoch: 0, batch: number, step: number });
    for (const layer of layers) layer.momentum = first / (first + indices.length);
    tf.tidy(() => {
      const [features] = batchTensors(batch);
      outputsOf(model, modelInputs(model, batch, features), true);
    });
  }
}

/** All batch normalizations of a model, in order. */
export function normalizationsOf(model: LayersModel): BatchNormalization[] {
  return model.layers.flatMap((layer) => normalizationsIn(layer as unknown as AnyLayer));
}

/** The batch normalizations in a layer: itself, or those of a nested model or of a wrapper. */
function normalizationsIn(layer: AnyLayer): BatchNormalization[] {
  if (layer.getClassName() === 'BatchNormalization') return [layer as unknown as BatchNormalization];
  const inner = [...(layer.layers ?? []), ...(layer.layer === undefined ? [] : [layer.layer])];
  return inner.flatMap(normalizationsIn);
}

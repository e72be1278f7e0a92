import { openBatches } from '../data/streams/open-batches.ts';
import type { Batch, Dataset } from '../data/dataset.ts';
import { tf, type LayersModel, type SymbolicTensor, type Tensor } from '../tensorflow/tf.ts';
import { batchTensors, modelInputs } from '../member/batch-tensors.ts';
import { outputsOf } from '../member/member.ts';
import { concatenate } from '../member/predictions.ts';

/** A model or its inputs have nothing that a distance could be measured between. */
export class NoDistanceError extends Error {}

/** Features of some samples: the values that enter a model's last layer. */
export interface Features {
  /** Shape `[N, D]`; each position of a sample, such as a step of a sequence, is one of N. */
  values: Float32Array;
  /** D. */
  size: number;
}

const batchSize = 512;

/**
 * The model with one more output after its own: what enters the layer with weights that is nearest to the first output.
 * It shares the model's layers, so it sees new weights, and must not be disposed of.
 */
export function withFeatures(model: LayersModel): LayersModel {
  const outputs = [...model.outputs, beforeLastLayer(model)];
  return tf.model({ inputs: model.inputs, outputs });
}

/** @throws NoDistanceError where layers without weights combine several tensors into the output */
function beforeLastLayer(model: LayersModel): SymbolicTensor {
  let [tensor] = model.outputs;
  for (;;) {
    const { sourceLayer: layer, inputs } = tensor;
    const [own] = inputs;
    if (own !== undefined && inputs.length === 1) {
      if (layer.weights.length > 0) return own;
      tensor = own;
      continue;
    }
    throw new NoDistanceError(
      `The output of the model comes from the layer ${layer.name} with ${inputs.length} inputs and no weights, so ` +
        'there are no values before a last layer. Take a score that looks at predictions or at inputs: --outside.',
    );
  }
}

/**
 * The features in the outputs of a model of {@link withFeatures}, `[N, D]`. Sizes between that the predictions lack,
 * such as the pixels of a convolution, are averaged.
 */
export function featureRows(outputs: readonly Tensor[]): Tensor {
  const [first, features] = [outputs[0], outputs[outputs.length - 1]];
  const rows = first.size / first.shape[first.rank - 1];
  const size = features.shape[features.rank - 1];
  if (features.size % (rows * size) === 0) {
    const grouped = tf.reshape(features, [rows, features.size / (rows * size), size]);
    return tf.mean(grouped, 1);
  }
  throw new NoDistanceError(
    `The values before the last layer have the shape [${features.shape.join(', ')}], which are not the same number ` +
      `for each of ${rows} predictions. Take a score that looks at predictions or at inputs: --outside.`,
  );
}

/** The features of all samples of a data set. @param model of {@link withFeatures} */
export async function predictFeatures(model: LayersModel, dataset: Dataset): Promise<Features> {
  let size = 0;
  const values = await eachBatch(dataset, async (batch) => {
    const rows = tf.tidy(() => {
      const [features] = batchTensors(batch);
      return featureRows(outputsOf(model, modelInputs(model, batch, features), false));
    });
    size = rows.shape[1] ?? 1;
    const own = (await rows.data()) as Float32Array;
    rows.dispose();
    return own;
  });
  return { values, size };
}

/**
 * The main input of all samples of a data set, as the model takes it.
 * @throws NoDistanceError where its values are ids of an embedding, or not the same number for each prediction
 */
export async function preparedInputs(model: LayersModel, dataset: Dataset): Promise<Features> {
  refuseIds(model);
  let rows = 0;
  const values = await eachBatch(dataset, (batch) => {
    rows += predictionsOf(model, batch);
    // The next batch may use the same memory.
    return Promise.resolve(batch.features.slice());
  });
  return { values, size: inputSize(values.length, rows) };
}

/** Number of predictions for a batch: each position of a sample has one. */
function predictionsOf(model: LayersModel, batch: Batch): number {
  const [count] = batch.featureShape;
  const free = model.outputs[0].shape.slice(1, -1);
  if (!free.includes(null)) return free.reduce<number>((product, size) => product * (size ?? 1), count);
  return tf.tidy(() => {
    const [output] = outputsOf(model, modelInputs(model, batch, tf.tensor(batch.features, batch.featureShape)), false);
    return output.size / (output.shape.at(-1) ?? 1);
  });
}

/** Values of an input for each prediction. @throws NoDistanceError where they are not the same number */
function inputSize(values: number, rows: number): number {
  const size = values / rows;
  if (Number.isInteger(size)) return size;
  throw new NoDistanceError(
    `${values} values of the inputs are not the same number for each of ${rows} predictions, so no distance ` +
      'between inputs is possible. Take a score that looks at predictions or at features: --outside.',
  );
}

function refuseIds(model: LayersModel): void {
  const takesInput = ({ inboundNodes }: LayersModel['layers'][number]): boolean =>
    inboundNodes.some(({ inputTensors }) => inputTensors.some((tensor) => model.inputs.includes(tensor)));
  const embedding = model.layers.find((layer) => layer.getClassName() === 'Embedding' && takesInput(layer));
  if (embedding === undefined || model.inputs.length > 1) return;
  throw new NoDistanceError(
    `The layer ${embedding.name} takes the input as ids, between which there is no distance. ` +
      'Take a score that looks at predictions or at features: --outside.',
  );
}

async function eachBatch(dataset: Dataset, valuesOf: (batch: Batch) => Promise<Float32Array>): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  const batches = openBatches(dataset);
  for (let first = 0; first < dataset.length; first += batchSize) {
    const count = Math.min(batchSize, dataset.length - first);
    const indices = Int32Array.from({ length: count }, (_, row) => first + row);
    parts.push(await valuesOf(await batches.batch(indices, { epoch: 0, batch: 0, step: 0 })));
  }
  return concatenate(parts);
}

import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import { tf, type LayersModel, type Tensor, type Variable } from '../tensorflow/tf.ts';
import { layersIn } from './penalties.ts';
import { automaticName } from '../tensorflow/topology.ts';

/**
 * Names of a model's weights that do not depend on how many models the process built before: a layer's name if the
 * project gave one, else its type and its position among the model's layers of that type (`dense_0/kernel`). Where a
 * wrapper has several weights of the same name, the later ones are numbered (`bidirectional_0/kernel_1`).
 */
export function weightNames(model: LayersModel): string[] {
  const layers = layerNames(model);
  const names = model.layers.flatMap((layer, i) =>
    layer.weights.map((weight) => `${layers[i]}/${shortName(weight.originalName)}`),
  );
  return numberRepeated(names);
}

/** Names of a model's layers: those that the project gave, else type and position (`dense_0`). */
export function layerNames(model: LayersModel): string[] {
  const seen = new Map<string, number>();
  return model.layers.map((layer) => {
    const type = automaticName(layer.name, layer.getClassName());
    const index = type === null ? 0 : (seen.get(type) ?? 0);
    if (type !== null) seen.set(type, index + 1);
    return type === null ? layer.name : `${type}_${index}`;
  });
}

/** Like {@link weightNames}, for trainable weights, in the order of `model.trainableWeights`. */
export function trainedWeightNames(model: LayersModel): string[] {
  const names = weightNames(model);
  const weights = model.layers.flatMap((layer) => layer.weights);
  return model.trainableWeights.map((weight) => names[weights.indexOf(weight)]);
}

const variablesOfModels = new WeakMap<LayersModel, ReadonlyMap<string, Variable>>();

/** All weights, trainable or not, by name in the model's order. */
export function weightVariables(model: LayersModel): ReadonlyMap<string, Variable> {
  const known = variablesOfModels.get(model);
  if (known !== undefined) return known;
  const names = weightNames(model);
  const weights = model.layers.flatMap((layer) => layer.weights);
  const variables = new Map(weights.map((weight, i) => [names[i], weight.read() as Variable]));
  variablesOfModels.set(model, variables);
  return variables;
}

/** Copies of all weights, trainable or not, in the model's order. */
export async function readWeights(model: LayersModel): Promise<NamedTensor[]> {
  return readTensors(weightVariables(model));
}

/** A weight's values, row-major. */
export interface WeightValues {
  shape: number[];
  data: Float32Array;
}

/** Like {@link readWeights}, synchronously and by name. */
export function copyWeights(model: LayersModel): Map<string, WeightValues> {
  const names = weightNames(model);
  const weights = model.layers.flatMap((layer) => layer.weights);
  return new Map(
    weights.map((weight, i) => {
      const tensor = weight.read();
      return [names[i], { shape: [...tensor.shape], data: tensor.dataSync<'float32'>().slice() }];
    }),
  );
}

/**
 * @param inParts weights, kept in parts elsewhere, that `tensors` may lack
 * @throws when names or shapes differ from the model's: the checkpoint belongs to another model
 */
export function writeWeights(
  model: LayersModel,
  tensors: readonly NamedTensor[],
  source: string,
  inParts: readonly Variable[] = [],
): void {
  const names = weightNames(model);
  const weights = model.layers.flatMap((layer) => layer.weights);
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const elsewhere = releasedOf(model).map(({ name }) => name);
  const extra = tensors.find(({ name }) => !names.includes(name) && !elsewhere.includes(name));
  if (extra !== undefined) throw mismatch(source, `it has "${extra.name}", which the model lacks`);
  weights.forEach((weight, i) => {
    const tensor = byName.get(names[i]);
    const variable = weight.read() as Variable;
    if (tensor === undefined && inParts.includes(variable)) return;
    if (tensor === undefined) throw mismatch(source, `it lacks "${names[i]}"`);
    if (tensor.shape.join() !== weight.shape.join()) {
      throw mismatch(
        source,
        `"${names[i]}" is [${tensor.shape.join(', ')}], the model's is [${weight.shape.join(', ')}]`,
      );
    }
    // `write` would apply the weight's constraint, and so change the last bits.
    tf.tidy(() => variable.assign(tf.tensor(tensor.data as Float32Array, [...tensor.shape])));
  });
}

/** Layers whose forward pass is one product with their first weight. */
const productLayers = ['Dense', 'Conv1D', 'Conv2D', 'Conv3D'];

/**
 * Multiplications of the largest matrix product in the forward pass of a batch; 0 for a model without such layers. Layers
 * whose weights another rank holds do not count.
 */
export function largestProduct({ layers }: LayersModel, batchSize: number): number {
  const products = layers.flatMap((layer) => {
    const weight = layer.weights.at(0);
    if (!productLayers.includes(layer.getClassName()) || layer.inboundNodes.length === 0 || weight === undefined)
      return [];
    const [, ...shape] = layer.inboundNodes[0].outputTensors[0].shape;
    const isFirst = layer.getConfig().dataFormat === 'channelsFirst';
    const positions = (isFirst ? shape.slice(1) : shape.slice(0, -1)).reduce<number>(
      (size, axis) => size * (axis ?? 1),
      1,
    );
    return [batchSize * positions * weight.shape.reduce<number>((size, axis) => size * (axis ?? 1), 1)];
  });
  return Math.max(0, ...products);
}

/** Number of scalars in all weights, with those that other ranks hold. */
export function parameterCount(model: LayersModel): number {
  const shapes = [...model.weights, ...releasedOf(model)].map(({ shape }): readonly (number | null)[] => shape);
  return shapes.reduce((sum, shape) => sum + shape.reduce<number>((n, size) => n * (size ?? 1), 1), 0);
}

/** Name and shape of a weight. */
export interface WeightPlace {
  name: string;
  shape: readonly (number | null)[];
}

/** Names and shapes of the weights of each of a model's layers. */
export function weightPlaces(model: LayersModel): WeightPlace[][] {
  const names = weightNames(model);
  return model.layers.map(({ weights }) => weights.map(({ shape }) => ({ name: names.shift() ?? '', shape })));
}

const releasedWeights = new WeakMap<LayersModel, readonly WeightPlace[]>();

/** Weights of the model that this process no longer holds. */
function releasedOf(model: LayersModel): readonly WeightPlace[] {
  return releasedWeights.get(model) ?? [];
}

/**
 * Frees the weights of layers that other ranks compute. From then on the model's weights are the others; their names
 * stay.
 */
export function releaseWeights(model: LayersModel, layers: readonly LayersModel['layers'][number][]): void {
  const places = weightPlaces(model);
  releasedWeights.set(
    model,
    model.layers.flatMap((layer, i) => (layers.includes(layer) ? places[i] : [])),
  );
  for (const weight of layers.flatMap((layer) => layer.weights)) weight.read().dispose();
  for (const layer of layers) forgetWeights(layer);
  variablesOfModels.delete(model);
}

/** Makes a layer and those in it look as if they had no weights. */
function forgetWeights(layer: LayersModel['layers'][number]): void {
  for (const inner of layersIn(layer)) forgetWeights(inner);
  for (const name of ['weights', 'trainableWeights', 'nonTrainableWeights', 'losses']) {
    Object.defineProperty(layer, name, { get: () => [], configurable: true });
  }
}

function mismatch(source: string, what: string): Error {
  return new Error(
    `${source} does not fit this model: ${what}. Load it with the project and hyperparameters that it was saved with.`,
  );
}

function numberRepeated(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return names.map((name) => {
    const earlier = counts.get(name) ?? 0;
    counts.set(name, earlier + 1);
    return earlier === 0 ? name : `${name}_${earlier}`;
  });
}

function shortName(originalName: string): string {
  return originalName.slice(originalName.lastIndexOf('/') + 1);
}

/** Copies of tensors, by name. */
export async function readTensors(tensors: ReadonlyMap<string, Tensor>): Promise<NamedTensor[]> {
  return Promise.all(
    [...tensors].map(async ([name, tensor]): Promise<NamedTensor> => {
      const { shape } = tensor;
      const data = (await tensor.data()).slice();
      // Optimizers may keep packed values in integers.
      return data instanceof Int32Array
        ? { name, dtype: 'I32', shape, data }
        : { name, dtype: 'F32', shape, data: data as Float32Array<ArrayBuffer> };
    }),
  );
}

/** @throws when names or shapes differ: the state belongs to another model or optimizer */
export function writeTensors(
  variables: ReadonlyMap<string, Variable>,
  tensors: readonly NamedTensor[],
  source: string,
): void {
  if (tensors.length !== variables.size)
    throw mismatch(source, `it has ${tensors.length} tensors, not ${variables.size}`);
  for (const { name, shape, data } of tensors) {
    const variable = variables.get(name);
    if (variable === undefined) throw mismatch(source, `it has "${name}", which is not expected`);
    tf.tidy(() => variable.assign(tf.tensor(data as Float32Array, [...shape])));
  }
}

import type { Batch, Dataset } from '../data/dataset.ts';
import type { Field, Fields } from '../data/fields.ts';
import { tf, type LayersModel, type Tensor } from '../tensorflow/tf.ts';

/**
 * What a loss may use of a batch besides the model's outputs and its targets. Tensors are made when they are first
 * read.
 */
export interface LossInputs {
  /** The batch's inputs by name, `[B, ...]`: `features` and the further ones. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** The further targets by name, `[B, ...]`. */
  readonly extraTargets: Readonly<Record<string, Tensor>>;
  /** Weights of the samples, float32 `[B]`; null if the data have none. */
  readonly weights: Tensor | null;
  /** 1 for each value of the targets that counts, else 0; float32 of the targets' shape; null if the data have none. */
  readonly mask: Tensor | null;
}

/** A batch's features and targets as tensors. */
export function batchTensors(batch: Batch): [Tensor, Tensor] {
  return [tf.tensor(batch.features, batch.featureShape), targetTensor(batch)];
}

/** What a model is called with: the features, or a list in the order of its inputs. */
export function modelInputs(model: LayersModel, { extraInputs = {}, featureShape }: Batch, features: Tensor) {
  if (model.inputs.length === 1) return features;
  return model.inputNames.map((name) => {
    const field = ownField(extraInputs, name);
    return field === undefined ? features : fieldTensor(field, featureShape[0]);
  });
}

/** Where samples were mixed: the batch with the others' targets, weights and masks; else null. */
export function partnersOf(batch: Batch): Batch | null {
  return batch.mixed === undefined ? null : { ...batch, ...batch.mixed.partner, mixed: undefined };
}

/** The targets of a batch as a tensor. */
export function targetTensor({ targets, targetShape }: Batch): Tensor {
  return tf.tensor(targets, targetShape, dtypeOf(targets));
}

/** Repeats a batch's values k times, one copy after the other: `[B, ...]` to `[k·B, ...]`. */
export function repeated(values: Tensor, times: number): Tensor {
  return times === 1 ? values : tf.tile(values, [times, ...values.shape.slice(1).map(() => 1)]);
}

/**
 * @param features the batch's features as a tensor, where there is one already
 * @param rowsPerSample k where the model returns `[k·B, ...]`: all values then have k·B rows
 */
export function lossInputsOf(batch: Batch, features?: Tensor, rowsPerSample = 1): LossInputs {
  const { extraInputs = {}, extraTargets = {}, weights, mask, featureShape, targetShape } = batch;
  const [size] = featureShape;
  const rows = (values: Tensor): Tensor => repeated(values, rowsPerSample);
  const rowsOf = (fields: Fields): Record<string, Tensor> =>
    Object.fromEntries(Object.entries(tensorsOf(fields, size)).map(([name, values]) => [name, rows(values)]));
  return {
    get inputs() {
      return { features: rows(features ?? tf.tensor(batch.features, featureShape)), ...rowsOf(extraInputs) };
    },
    get extraTargets() {
      return rowsOf(extraTargets);
    },
    get weights() {
      return weights === undefined ? null : rows(tf.tensor(weights, [size]));
    },
    get mask() {
      return mask === undefined ? null : rows(tf.tensor(Float32Array.from(mask), targetShape));
    },
  };
}

/**
 * Checks that the data have what each of the model's inputs needs.
 * @throws Error that names the input, what was found and the remedy
 */
export function requireInputs(model: LayersModel, dataset: Dataset): void {
  const { name: data, featureShape, extraInputs = {} } = dataset;
  const unnamed = model.inputNames.filter((name) => ownField(extraInputs, name) === undefined);
  if (model.inputs.length > 1 && unnamed.length !== 1) {
    throw new Error(
      `The model has the inputs ${model.inputNames.join(', ')}; ${data} has features and ` +
        `${Object.keys(extraInputs).length === 0 ? 'no extraInputs' : `the extraInputs ${Object.keys(extraInputs).join(', ')}`}. ` +
        'Features go to one input. Give each other input in extraInputs, under the name of its tf.input({ name }).',
    );
  }
  model.inputNames.forEach((name, i) => {
    const field = model.inputs.length === 1 ? undefined : ownField(extraInputs, name);
    const found = field?.shape ?? featureShape;
    const expected = model.inputs[i].shape.slice(1);
    // A size of null fits every size.
    if (expected.length === found.length && expected.every((size, at) => size === null || size === found[at])) return;
    throw new Error(
      `The model's input ${name} takes samples of shape [${expected.map((size) => size ?? 'any').join(', ')}], ` +
        `${field === undefined ? 'the features' : `"${name}"`} of ${data} have [${found.join(', ')}]. Change the ` +
        "input's shape or the data.",
    );
  });
}

function tensorsOf(fields: Fields, size: number): Record<string, Tensor> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldTensor(field, size)]));
}

/** A field of a batch as a tensor, `[B, ...]`. */
export function fieldTensor({ shape, values }: Field, size: number): Tensor {
  return tf.tensor(values, [size, ...shape], dtypeOf(values));
}

/** Bytes are whole numbers. */
function dtypeOf(values: Field['values']): 'int32' | 'float32' {
  return values instanceof Float32Array ? 'float32' : 'int32';
}

/** The field of that name; undefined where there is none. */
export function ownField(fields: Fields, name: string): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

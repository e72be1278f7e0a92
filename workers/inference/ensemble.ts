import { combineMembers, type EnsemblePredictions, type MemberOutputStack } from '../../core/ensemble/predictions.ts';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Postprocessing } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Batch } from '../data/dataset.ts';
import type { Field, Fields } from '../data/fields.ts';
import { modelInputs } from '../member/batch-tensors.ts';
import { outputsOf } from '../member/member.ts';
import { outputCount } from '../../core/metrics/registry/task-kinds.ts';
import { type Task, taskOf } from '../member/tasks.ts';
import { tf, type LayersModel } from '../tensorflow/tf.ts';
import type { BatchDistances } from './batch-distances.ts';
import { featureRows } from './features.ts';
import { type EnsembleInput, type PreparedInput, prepareInput } from './inputs.ts';

/** How many samples are predicted at a time: activations stay small, kernels busy. Rows of a table take less than images. */
const batchSizeOf = (sampleSize: number): number => (sampleSize <= 256 ? 4096 : 512);

/** The trained models of an ensemble, which predict together. */
export class Ensemble {
  /** Task, members, names of classes. */
  readonly description: EnsembleDescription;
  /** What was fitted on the training split; null if nothing was kept. */
  readonly preprocessing: Preprocessing | null;
  /** What was fitted on held-out predictions, such as a calibration; null if nothing was. */
  readonly postprocessing: Postprocessing | null;
  /** One for each member, in the order of the description. */
  readonly models: readonly LayersModel[];
  readonly #task: Task;
  readonly #distances: BatchDistances | null;

  /** @param models one for each member, in the order of the description, which the ensemble disposes of */
  constructor(
    description: EnsembleDescription,
    models: readonly LayersModel[],
    {
      preprocessing = null,
      postprocessing = null,
      distances = null,
    }: Partial<Pick<Ensemble, 'preprocessing' | 'postprocessing'> & { distances: BatchDistances | null }> = {},
  ) {
    this.description = description;
    this.models = models;
    this.preprocessing = preprocessing;
    this.postprocessing = postprocessing;
    this.#distances = distances;
    this.#task = taskOf(description.task, description.quantiles ?? undefined);
  }

  /**
   * Predicts with all members and combines what they predict. Memory holds one batch of activations and the results.
   * @throws Error that names the column, the shape or the input that does not fit
   */
  async predict(input: EnsembleInput): Promise<EnsemblePredictions> {
    const stack = await this.outputs(input);
    const { task, combination } = this.description;
    const { postprocessing } = this;
    return combineMembers(stack, { task, combination, target: this.preprocessing?.target, postprocessing });
  }

  /** The members' outputs before they are combined: logits, or values in the unit in which the models were trained. */
  async outputs(input: EnsembleInput): Promise<MemberOutputStack> {
    const prepared = prepareInput(input, this.preprocessing, this.#featureShape(input));
    const parts: Float32Array[][] = [];
    const distances: Float64Array[] = [];
    const batchSize = batchSizeOf(prepared.features.length / prepared.samples);
    let width = 0;
    for (let first = 0; first < prepared.samples; first += batchSize) {
      const batch = sliceInput(prepared, first, Math.min(batchSize, prepared.samples - first));
      const predicted = await this.#predictBatch(batch);
      parts.push(...predicted.outputs);
      if (predicted.distances !== null) distances.push(predicted.distances);
      width = predicted.width;
    }
    const members = this.models.length;
    const values = parts[0].map((_, output) =>
      joinBatches(
        parts.map((part) => part[output]),
        members,
      ),
    );
    // Each position of a sample, such as a step of a sequence, counts as a sample.
    const samples = values[0].length / members / width;
    const positions = samples / prepared.samples;
    const stack = { kind: this.#task.predicts, members, samples, positions, width, values };
    return this.#distances === null
      ? stack
      : { ...stack, distances: Float64Array.from(distances.flatMap((own) => [...own])) };
  }

  /** Frees the models' memory. */
  dispose(): void {
    for (const model of this.models) model.dispose();
  }

  /** Outputs of each member in turn, `[member][output]`, their last size W, and distances to the training samples. */
  async #predictBatch(batch: Batch) {
    const outputs: Float32Array[][] = [];
    const features: Float32Array[] = [];
    let width = 0;
    for (const model of this.#distances?.models ?? this.models) {
      const tensors = tf.tidy(() => {
        const given = tf.tensor(batch.features, batch.featureShape);
        const all = outputsOf(model, modelInputs(model, batch, given), false);
        // Further outputs come after those of the task.
        const own = all.slice(0, outputCount(this.#task.kind));
        const predicted = this.#task.predictionsOf?.(own) ?? own;
        return this.#distances?.looksAtFeatures ? [...predicted, featureRows(all)] : predicted;
      });
      width = tensors[0].shape.at(-1) ?? 1;
      const arrays = await Promise.all(tensors.map(async (tensor) => (await tensor.data()) as Float32Array));
      tf.dispose(tensors);
      if (this.#distances?.looksAtFeatures) features.push(...arrays.splice(-1));
      outputs.push(arrays);
    }
    const rows = outputs[0][0].length / width;
    return { outputs, width, distances: this.#distances?.of(batch, features, rows) ?? null };
  }

  /** Names of the inputs that take columns of texts. */
  #textInputs(): string[] {
    const texts = this.preprocessing?.steps.flatMap((step) => (step.kind === 'texts' ? step.columns : [])) ?? [];
    return texts.flatMap(({ input }) => input ?? []);
  }

  /** Shape of one sample at the input that takes the features: the one without a further input of its name. */
  #featureShape(input: EnsembleInput): (number | null)[] {
    const isTable = 'rows' in input || 'table' in input;
    const extra = isTable ? this.#textInputs() : Object.keys(('extraInputs' in input && input.extraInputs) || {});
    const [model] = this.models;
    // A sequential model has no names of inputs.
    const free = model.inputs.map(({ shape }, i) => ({ name: model.inputNames?.[i], shape: shape.slice(1) }));
    const unnamed = free.length === 1 ? free : free.filter(({ name }) => !extra.includes(name));
    if (unnamed.length === 1) return unnamed[0].shape;
    throw new Error(
      `The model has the inputs ${model.inputNames.join(', ')}. The values go to one; give each other one in extraInputs, under its name.`,
    );
  }
}

/** Batches of all members one after the other become one array `[M, N, W]`. */
function joinBatches(parts: readonly Float32Array[], members: number): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  const memberSize = whole.length / members;
  const offsets = Array.from({ length: members }, () => 0);
  parts.forEach((part, i) => {
    const member = i % members;
    whole.set(part, member * memberSize + offsets[member]);
    offsets[member] += part.length;
  });
  return whole;
}

function sliceInput({ features, shape, samples, extraInputs }: PreparedInput, first: number, count: number): Batch {
  const size = features.length / samples;
  return {
    features: features.subarray(first * size, (first + count) * size),
    featureShape: [count, ...shape],
    extraInputs: sliceFields(extraInputs, samples, first, count),
    targets: new Float32Array(0),
    targetShape: [count, 0],
  };
}

function sliceFields(fields: Fields, samples: number, first: number, count: number): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { shape, values }]): [string, Field] => {
      const size = shape.reduce((product, own) => product * own, 1);
      if (values.length !== samples * size) {
        throw new Error(`The input "${name}" has ${values.length} values; ${samples} samples need ${samples * size}.`);
      }
      return [name, { shape, values: values.subarray(first * size, (first + count) * size) }];
    }),
  );
}

import type { MemberOutputStack } from '../../core/ensemble/predictions.ts';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import type { Batch } from '../data/dataset.ts';
import type { Field, Fields } from '../data/fields.ts';
import { modelInputs } from '../member/batch-tensors.ts';
import { outputsOf } from '../member/member.ts';
import { outputCount } from '../../core/metrics/registry/metric.ts';
import { type Task, taskOf } from '../member/tasks.ts';
import { type LayersModel, type Tensor, tf } from '../tensorflow/tf.ts';
import type { BatchDistances } from './batch-distances.ts';
import { featureRows } from './features.ts';
import type { PreparedInput } from './inputs.ts';

/** Outputs of the models that belong to one task. */
export interface Head {
  /** Null: those of the run's task. */
  name: string | null;
  task: Task;
  /** The position of the first one. */
  first: number;
}

/** The outputs of the run's task, then the further ones that the models have. */
export function headsOf(
  { task, quantiles, outputs }: Pick<EnsembleDescription, 'task' | 'quantiles' | 'outputs'>,
  models: readonly LayersModel[],
): Head[] {
  const least = Math.min(...models.map((model) => model.outputs.length));
  const all = [{ name: null, task, quantiles }, ...outputs];
  let first = 0;
  const heads = all.map((own): Head => {
    const head = { name: own.name, task: taskOf(own.task, own.quantiles ?? undefined), first };
    first += outputCount(own.task);
    return head;
  });
  return heads.filter((head) => head.name === null || head.first + outputCount(head.task.kind) <= least);
}

/**
 * How many samples are predicted at a time: activations stay small, kernels busy. Rows of a table take less than
 * images.
 */
const batchSizeOf = (sampleSize: number): number => (sampleSize <= 256 ? 4096 : 512);

/** What one member predicts of a batch: one array for each output of a task, and their last size W. */
interface PredictedHead {
  outputs: Float32Array[];
  width: number;
}

/**
 * The members' outputs for N samples. Memory holds one batch of activations and the results.
 * @param distances what measures those to the training samples; null where nothing needs them
 */
export async function predictMembers(
  models: readonly LayersModel[],
  heads: readonly Head[],
  prepared: PreparedInput,
  distances: BatchDistances | null,
): Promise<MemberOutputStack> {
  // Each batch has the outputs of all members.
  const parts: PredictedHead[][] = [];
  const measured: Float64Array[] = [];
  const batchSize = batchSizeOf(prepared.features.length / prepared.samples);
  for (let first = 0; first < prepared.samples; first += batchSize) {
    const batch = sliceInput(prepared, first, Math.min(batchSize, prepared.samples - first));
    const features: Float32Array[] = [];
    for (const model of distances?.models ?? models) {
      const predicted = await predictBatch(model, heads, batch, distances?.looksAtFeatures === true);
      parts.push(predicted.heads);
      if (predicted.features !== null) features.push(predicted.features);
    }
    const [{ outputs, width }] = parts[parts.length - 1];
    if (distances !== null) measured.push(distances.of(batch, features, outputs[0].length / width));
  }
  const [own, ...others] = heads.map(({ task }, head) =>
    stackOf(
      parts.map((part) => part[head]),
      { task, members: models.length, samples: prepared.samples },
    ),
  );
  const further = others.map((stack, i): [string, MemberOutputStack] => [heads[i + 1].name ?? '', stack]);
  return {
    ...own,
    ...(further.length > 0 && { further: Object.fromEntries(further) }),
    ...(distances !== null && { distances: Float64Array.from(measured.flatMap((batch) => [...batch])) }),
  };
}

async function predictBatch(
  model: LayersModel,
  heads: readonly Head[],
  batch: Batch,
  withFeatures: boolean,
): Promise<{ heads: PredictedHead[]; features: Float32Array | null }> {
  const { predicted, features } = tf.tidy(() => {
    const given = tf.tensor(batch.features, batch.featureShape);
    const outputs = outputsOf(model, modelInputs(model, batch, given), false);
    const predicted = heads.map(({ task, first }) => {
      const own = outputs.slice(first, first + outputCount(task.kind));
      return task.predictionsOf?.(own) ?? own;
    });
    return { predicted, features: withFeatures ? [featureRows(outputs)] : [] };
  });
  const [found, [rows = null]] = await Promise.all([
    Promise.all(
      predicted.map(async (tensors) => ({ outputs: await arraysOf(tensors), width: tensors[0].shape.at(-1) ?? 1 })),
    ),
    arraysOf(features),
  ]);
  tf.dispose({ predicted, features });
  return { heads: found, features: rows };
}

function arraysOf(tensors: readonly Tensor[]): Promise<Float32Array[]> {
  return Promise.all(tensors.map(async (tensor) => (await tensor.data()) as Float32Array));
}

function stackOf(
  parts: readonly PredictedHead[],
  { task, members, samples: given }: { task: Task; members: number; samples: number },
): MemberOutputStack {
  const [{ outputs, width }] = parts;
  const values = outputs.map((_, output) =>
    joinBatches(
      parts.map((part) => part.outputs[output]),
      members,
    ),
  );
  // Each position of a sample, such as a step of a sequence, counts as a sample.
  const samples = values[0].length / members / width;
  return { kind: task.predicts, members, samples, positions: samples / given, width, values };
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

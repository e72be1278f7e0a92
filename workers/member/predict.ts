import type { ProcessGroup } from '../collectives/process-group.ts';
import { openBatches } from '../data/streams/open-batches.ts';
import type { Dataset } from '../data/dataset.ts';
import { tf, type LayersModel } from '../tensorflow/tf.ts';
import { batchTensors, modelInputs } from './batch-tensors.ts';
import { outputsOf } from './member.ts';
import { concatenate, type MemberOutputs, type Predictions } from './predictions.ts';
import type { Task } from './tasks.ts';

/** Large enough to keep the kernels busy, small enough that activations stay small beside the data. */
const evaluationBatchSize = 512;

/** One member's predictions for a whole split, in the order of the data, in inference mode. */
export async function predict(model: LayersModel, task: Task, dataset: Dataset): Promise<Predictions> {
  return predictRange(model, task, dataset, 0, dataset.length);
}

/** Predictions of a model that all ranks hold: each rank predicts a part of the split, and all receive the whole. */
export async function predictTogether(
  group: ProcessGroup,
  model: LayersModel,
  task: Task,
  dataset: Dataset,
): Promise<Predictions> {
  // An all-gather needs parts of the same size: the last ones begin earlier where the split does not divide evenly.
  const size = Math.ceil(dataset.length / group.worldSize);
  const startOf = (index: number): number => Math.min(index * size, dataset.length - size);
  const start = startOf(group.ranks.indexOf(group.rank));
  const own = await predictRange(model, task, dataset, start, start + size);
  const values: Float32Array<ArrayBuffer>[] = [];
  for (const output of own.values) {
    const whole = new Float32Array(dataset.length * own.width);
    const parts = await group.allGather(output, [size, own.width]);
    parts.forEach((part, index) => whole.set(part, startOf(index) * own.width));
    values.push(whole);
  }
  return { ...own, samples: dataset.length, values };
}

async function predictRange(
  model: LayersModel,
  task: Task,
  dataset: Dataset,
  start: number,
  end: number,
): Promise<Predictions> {
  const parts: Float32Array[][] = [];
  const batches = openBatches(dataset);
  for (let first = start; first < end; first += evaluationBatchSize) {
    const size = Math.min(evaluationBatchSize, end - first);
    const indices = Int32Array.from({ length: size }, (_, i) => first + i);
    const batch = await batches.batch(indices, { epoch: 0, batch: 0, step: 0 });
    const outputs = tf.tidy(() => {
      const [features] = batchTensors(batch);
      const outputs = outputsOf(model, modelInputs(model, batch, features), false);
      return task.predictionsOf?.(outputs) ?? outputs;
    });
    parts.push(await Promise.all(outputs.map(async (output) => (await output.data()) as Float32Array)));
    tf.dispose(outputs);
  }
  const values = parts[0].map((_, output) => concatenate(parts.map((part) => part[output])));
  const samples = end - start;
  return { kind: task.predicts, samples, width: values[0].length / samples, values };
}

/** The predictions of all ranks, on every rank: one all-gather per output, shape `[M, N, W]`. */
export async function gatherPredictions(group: ProcessGroup, own: Predictions): Promise<MemberOutputs> {
  const gathered: { from: readonly number[]; outputs: Float32Array[] }[] = [];
  for (const output of own.values) {
    const outputs = await group.allGather(output, [own.samples, own.width]);
    gathered.push({ from: group.ranks, outputs });
  }
  // A rank that was lost between two outputs takes part in neither.
  const ranks = [...group.ranks];
  const values = gathered.map(({ from, outputs }) =>
    concatenate(outputs.filter((_, position) => ranks.includes(from[position]))),
  );
  return { ...own, ranks, values };
}

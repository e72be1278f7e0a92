import { logitsOf, probabilitiesOf } from '../../core/metrics/index.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { ownBatches } from '../data/batches.ts';
import type { Dataset } from '../data/dataset.ts';
import { tf, type LayersModel } from '../tensorflow/tf.ts';
import { batchTensors, outputsOf } from './member.ts';
import type { Task } from './tasks.ts';

/** Predictions of one member for a split: one array `[N, W]` per output of the task. */
export interface Predictions {
  /** What the numbers are. Projects see probabilities where the run itself keeps logits. */
  kind: 'logits' | 'probabilities' | 'values';
  samples: number;
  width: number;
  values: Float32Array<ArrayBuffer>[];
}

/** Predictions of several members, stacked: one array `[M, N, W]` per output of the task, members in order of `ranks`. */
export interface MemberOutputs extends Predictions {
  ranks: number[];
}

/** Large enough to keep the kernels busy, small enough that activations stay small beside the data. */
const evaluationBatchSize = 512;

/** One member's predictions for a whole split, in the order of the data, in inference mode. */
export async function predict(model: LayersModel, task: Task, dataset: Dataset): Promise<Predictions> {
  return predictRange(model, task, dataset, 0, dataset.length);
}

/** Predictions of one model that all ranks hold: each predicts a part of the split, and all get the whole. */
export async function predictTogether(
  group: ProcessGroup,
  model: LayersModel,
  task: Task,
  dataset: Dataset,
): Promise<Predictions> {
  // All parts have the same size, as an all-gather wants it: the last ones begin earlier where the split does not divide.
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
  const batches = ownBatches(dataset);
  for (let first = start; first < end; first += evaluationBatchSize) {
    const size = Math.min(evaluationBatchSize, end - first);
    const indices = Int32Array.from({ length: size }, (_, i) => first + i);
    const outputs = tf.tidy(() => {
      const [features] = batchTensors(batches.batch(indices));
      return outputsOf(model, features, false);
    });
    parts.push(await Promise.all(outputs.map(async (output) => (await output.data()) as Float32Array)));
    tf.dispose(outputs);
  }
  const values = parts[0].map((_, output) => concatenate(parts.map((part) => part[output])));
  const samples = end - start;
  return { kind: task.predicts, samples, width: values[0].length / samples, values };
}

/** Everyone's predictions on every rank of the group: one all-gather per output, shape `[M, N, W]`. */
export async function gatherPredictions(group: ProcessGroup, own: Predictions): Promise<MemberOutputs> {
  const values: Float32Array<ArrayBuffer>[] = [];
  for (const output of own.values) {
    values.push(concatenate(await group.allGather(output, [own.samples, own.width])));
  }
  return { ...own, ranks: [...group.ranks], values };
}

/** Members of two stacks of the same split in one stack, by rank. */
export function joinStacks(given: readonly MemberOutputs[]): MemberOutputs {
  const stacks = inOneForm(given);
  const rows = stacks.flatMap((stack) => stack.ranks.map((rank, index) => ({ rank, index, stack })));
  rows.sort((a, b) => a.rank - b.rank);
  const { kind, samples, width, values } = stacks[0];
  const size = samples * width;
  return {
    kind,
    ranks: rows.map(({ rank }) => rank),
    samples,
    width,
    values: values.map((_, output) =>
      concatenate(rows.map(({ index, stack }) => stack.values[output].subarray(index * size, (index + 1) * size))),
    ),
  };
}

/** A copy for projects: class probabilities in float32 where the run keeps logits, all else as it is. */
export function copyForProject<P extends Predictions>(predictions: P): P {
  const { kind, width, values } = predictions;
  if (kind !== 'logits') return { ...predictions, values: values.map((output) => output.slice()) };
  return { ...predictions, kind: 'probabilities', values: values.map((output) => probabilitiesOf(output, width)) };
}

/** An earlier version kept probabilities of members that trained in earlier waves; beside logits they become such. */
function inOneForm(stacks: readonly MemberOutputs[]): readonly MemberOutputs[] {
  if (!stacks.some(({ kind }) => kind === 'logits')) return stacks;
  return stacks.map((stack) =>
    stack.kind === 'logits'
      ? stack
      : { ...stack, kind: 'logits', values: stack.values.map((output) => logitsOf(output, stack.width)) },
  );
}

function concatenate(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

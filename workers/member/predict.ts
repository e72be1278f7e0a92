import type { ProcessGroup } from '../collectives/process-group.ts';
import { openBatches } from '../data/streams/open-batches.ts';
import type { Dataset } from '../data/dataset.ts';
import { rowsHeldOutBy } from '../data/hold-out.ts';
import { tf, type LayersModel, type Tensor } from '../tensorflow/tf.ts';
import { batchTensors, modelInputs } from './batch-tensors.ts';
import { outputsOf } from './member.ts';
import { concatenate, furtherOf, type MemberOutputs, type Predictions } from './predictions.ts';
import type { Task } from './tasks.ts';

/** Large enough to keep the kernels busy, small enough that activations stay small beside the data. */
const evaluationBatchSize = 512;

/** One member's predictions for a whole split, in the order of the data, in inference mode. */
export async function predict(model: LayersModel, task: Task, dataset: Dataset): Promise<Predictions> {
  return predictRows(model, task, dataset, rowsBetween(0, dataset.length));
}

/** The same of a rank, with NaN for samples that it may have trained on, where ranks hold out different ones. */
export async function predictOfRank(
  model: LayersModel,
  task: Task,
  dataset: Dataset,
  rank: number,
): Promise<Predictions> {
  const rows = rowsHeldOutBy(dataset, rank);
  if (rows === null) return predict(model, task, dataset);
  const { values, samples, ...others } = await predictRows(model, task, dataset, rows);
  const positions = samples / rows.length;
  const size = positions * others.width;
  const whole = values.map((own) => {
    const all = new Float32Array(dataset.length * size).fill(Number.NaN);
    rows.forEach((row, i) => all.set(own.subarray(i * size, (i + 1) * size), row * size));
    return all;
  });
  return { ...others, samples: dataset.length * positions, values: whole };
}

function rowsBetween(start: number, end: number): Int32Array {
  return Int32Array.from({ length: end - start }, (_, i) => start + i);
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
  const own = await predictRows(model, task, dataset, rowsBetween(start, start + size));
  const gather = async ({ further, ...part }: Predictions): Promise<Predictions> => {
    const values: Float32Array<ArrayBuffer>[] = [];
    for (const output of part.values) {
      const perSample = output.length / size;
      const whole = new Float32Array(dataset.length * perSample);
      const parts = await group.allGather(output, [size, perSample]);
      parts.forEach((ofRank, index) => whole.set(ofRank, startOf(index) * perSample));
      values.push(whole);
    }
    const others: Record<string, Predictions> = {};
    for (const [name, output] of Object.entries(further ?? {})) others[name] = await gather(output);
    return { ...part, ...(further && { further: others }), samples: values[0].length / part.width, values };
  };
  return gather(own);
}

async function predictRows(model: LayersModel, task: Task, dataset: Dataset, rows: Int32Array): Promise<Predictions> {
  const parts = new PredictionParts(task);
  const batches = openBatches(dataset);
  for (const indices of blocksOf(rows)) {
    const batch = await batches.batch(indices, { epoch: 0, batch: 0, step: 0 });
    await parts.add(() => {
      const [features] = batchTensors(batch);
      return outputsOf(model, modelInputs(model, batch, features), false);
    });
  }
  return parts.whole();
}

/** The rows of a whole split in blocks, in which a model predicts them. */
export function evaluationRows(dataset: Dataset): Generator<Int32Array> {
  return blocksOf(rowsBetween(0, dataset.length));
}

function* blocksOf(rows: Int32Array): Generator<Int32Array> {
  for (let first = 0; first < rows.length; first += evaluationBatchSize) {
    yield rows.subarray(first, first + evaluationBatchSize);
  }
}

/** A model's predictions, block by block. */
export class PredictionParts {
  readonly #task: Task;
  readonly #heads: { task: Task; outputsOf: (outputs: Tensor[]) => Tensor[] }[];
  /** The parts by block, head and output. */
  readonly #parts: Float32Array[][][] = [];
  readonly #widths: number[] = [];

  constructor(task: Task) {
    this.#task = task;
    this.#heads = [{ task, outputsOf: (outputs) => outputs }, ...(task.further ?? [])];
  }

  /** @param compute returns the model's outputs; called inside `tidy` */
  async add(compute: () => Tensor[]): Promise<void> {
    const predicted = tf.tidy(() => {
      const outputs = compute();
      return this.#heads.map((head) => {
        const own = head.outputsOf(outputs);
        return head.task.predictionsOf?.(own) ?? own;
      });
    });
    predicted.forEach(([output], head) => (this.#widths[head] = output.shape[output.rank - 1]));
    this.#parts.push(await Promise.all(predicted.map((own) => Promise.all(own.map(valuesOf)))));
    tf.dispose(predicted);
  }

  whole(): Predictions {
    const [parts, widths] = [this.#parts, this.#widths];
    const [own, ...others] = this.#heads.map((head, at): Predictions => {
      const values = parts[0][at].map((_, output) => concatenate(parts.map((part) => part[at][output])));
      return { kind: head.task.predicts, samples: values[0].length / widths[at], width: widths[at], values };
    });
    const { further } = this.#task;
    if (further === undefined) return own;
    return { ...own, further: Object.fromEntries(further.map(({ name }, i) => [name, others[i]])) };
  }
}

async function valuesOf(output: Tensor): Promise<Float32Array> {
  return (await output.data()) as Float32Array;
}

/** The predictions of all ranks, on every rank: one all-gather per output, shape `[M, N, W]`. */
export async function gatherPredictions(group: ProcessGroup, own: Predictions): Promise<MemberOutputs> {
  const gathered: { from: readonly number[]; outputs: Float32Array[] }[] = [];
  for (const { values, samples, width } of [own, ...Object.values(own.further ?? {})]) {
    for (const output of values) {
      const outputs = await group.allGather(output, [samples, width]);
      gathered.push({ from: group.ranks, outputs });
    }
  }
  // A rank that was lost between two outputs takes part in neither.
  const ranks = [...group.ranks];
  const stacked = gathered.map(({ from, outputs }) =>
    concatenate(outputs.filter((_, position) => ranks.includes(from[position]))),
  );
  const stackOf = (of: Predictions): Predictions => ({ ...of, values: stacked.splice(0, of.values.length) });
  return { ...stackOf(own), ...furtherOf(own, (_, output) => stackOf(output)), ranks };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';

/**
 * What an ensemble answers and how it is judged, computed in float64 from the members' predictions that a run kept, by
 * the formulas of `docs/metrics.md`. Shares no code with the product. Legend: M members, N samples (positions count
 * each), W outputs, K classes or values.
 */

/** Predictions of the members, and the targets. */
export interface Kept {
  task: string;
  /** For each output of the task, the members' values, shape `[M][N · W]`. */
  outputs: Float64Array[][];
  width: number;
  /** Shape `[N]` for classes, else `[N · K]`. */
  targets: Float64Array;
  /** As many as targets. */
  weights: Float64Array;
  classNames: string[] | null;
  /** The members that hold out each of the N samples; null: all. */
  holders: number[][] | null;
}

type Split = 'validation' | 'test';

/** Reads what the members of a run predicted for a split, under the name of a set, or `best`. */
export async function readKept(
  folder: string,
  { task }: Pick<RunRecord, 'task'>,
  ranks: readonly number[],
  split: Split,
  name: string,
): Promise<Kept> {
  const at = join(folder, 'predictions', split);
  const members = await Promise.all(
    ranks.map(
      async (rank) => decodeSafetensors(await readFile(join(at, `rank-${rank}`, `${name}.safetensors`))).tensors,
    ),
  );
  const { tensors, metadata } = decodeSafetensors(await readFile(join(at, 'targets.safetensors')));
  const tensorOf = (wanted: string) => tensors.find((tensor) => tensor.name === wanted);
  const targets = Float64Array.from(tensorOf('targets')?.data as Float32Array);
  const own = members.map((all) => all.filter((tensor) => !tensor.name.includes(':')));
  const heldOutBy = tensorOf('held_out_by');
  const each = heldOutBy?.shape[1] ?? 1;
  const classNames = metadata.class_names === undefined ? null : (JSON.parse(metadata.class_names) as string[]);
  return {
    task,
    outputs: own[0].map((_, output) => own.map((all) => Float64Array.from(all[output].data as Float32Array))),
    width: own[0][0].shape[1],
    targets,
    weights: Float64Array.from((tensorOf('weights')?.data as Float32Array | undefined) ?? targets.map(() => 1)),
    classNames,
    holders:
      heldOutBy === undefined
        ? null
        : Array.from({ length: heldOutBy.shape[0] }, (_, i) => [
            ...(heldOutBy.data as Int32Array).subarray(i * each, (i + 1) * each),
          ]),
  };
}

const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
const meanOf = (values: readonly number[]): number => sum(values) / values.length;

function softmax(logits: readonly number[]): number[] {
  const most = Math.max(...logits);
  const powers = logits.map((z) => Math.exp(z - most));
  return powers.map((power) => power / sum(powers));
}

/** Logits or values of one sample, by member: `[M][W]`. */
function rowsOf({ outputs, width, holders }: Kept, output: number, sample: number): number[][] {
  const members = holders?.[sample] ?? outputs[output].map((_, member) => member);
  return members.map((member) => [...outputs[output][member].subarray(sample * width, (sample + 1) * width)]);
}

const meanRow = (rows: readonly number[][]): number[] => rows[0].map((_, k) => meanOf(rows.map((row) => row[k])));

/** Samples, or positions of samples. */
export const countOf = ({ outputs, width }: Kept): number => outputs[0][0].length / width;

/** What the ensemble answers for one sample, shape `[K]`: probabilities, or values in the unit of the training. */
export function answerOf(kept: Kept, sample: number, isJoint: boolean): number[] {
  const rows = rowsOf(kept, 0, sample);
  const combined = (each: (row: number[]) => number[]): number[] =>
    isJoint ? each(meanRow(rows)) : meanRow(rows.map(each));
  switch (kept.task) {
    case 'classification':
    case 'ordinal':
      return combined(softmax);
    case 'binary':
      return combined(([z]) => [sigmoid(-z), sigmoid(z)]);
    case 'multi-label':
      return combined((row) => row.map(sigmoid));
    case 'poisson-regression':
      // Kept as rates.
      return isJoint ? meanRow(rows.map((row) => row.map(Math.log))).map(Math.exp) : meanRow(rows);
    default:
      return meanRow(rows);
  }
}

/** The deviation of the members' means, √(1/M Σ (μ_m − μ)²), in the unit of the training, shape `[K]`. */
export function epistemicOf(kept: Kept, sample: number): number[] {
  const rows = rowsOf(kept, 0, sample);
  const mean = meanRow(rows);
  return mean.map((center, k) => Math.sqrt(meanOf(rows.map((row) => (row[k] - center) ** 2))));
}

const logFactorial = (count: number): number => sum(Array.from({ length: count }, (_, i) => Math.log(i + 1)));
const poisson = (count: number, rate: number): number => Math.exp(count * Math.log(rate) - rate - logFactorial(count));
const gaussian = (value: number, mean: number, variance: number): number =>
  Math.exp((-0.5 * (value - mean) ** 2) / variance) / Math.sqrt(2 * Math.PI * variance);

const levels = [0.05, 0.5, 0.95];

/**
 * The losses of one sample under what the ensemble answers, one for each of its targets: those whose mean is the score
 * that a run monitors.
 */
function lossesOf(kept: Kept, sample: number, isJoint: boolean, epsilon: number): number[] {
  const { task, targets, width } = kept;
  const answer = answerOf(kept, sample, isJoint);
  const own = targets.subarray(sample * width, (sample + 1) * width);
  switch (task) {
    case 'classification':
    case 'binary':
    case 'ordinal':
      return [-Math.log(answer[targets[sample]] + epsilon)];
    case 'multi-label':
      return answer.map((p, k) => -Math.log((own[k] === 1 ? p : 1 - p) + epsilon));
    case 'poisson-regression': {
      const rates = rowsOf(kept, 0, sample);
      const density = (k: number): number =>
        isJoint ? poisson(own[k], answer[k]) : meanOf(rates.map((row) => poisson(own[k], row[k])));
      return answer.map((_, k) => -Math.log(density(k)));
    }
    case 'heteroscedastic-regression': {
      const [means, variances] = [rowsOf(kept, 0, sample), rowsOf(kept, 1, sample)];
      return answer.map(
        (_, k) => -Math.log(meanOf(means.map((row, member) => gaussian(own[k], row[k], variances[member][k])))),
      );
    }
    case 'quantile-regression': {
      const target = targets[sample];
      return [
        meanOf(answer.map((value, q) => Math.max(levels[q] * (target - value), (levels[q] - 1) * (target - value)))),
      ];
    }
    default:
      return answer.map((value, k) => (own[k] - value) ** 2);
  }
}

/** The name of the score, after `ens_` or `product_`. */
export const scoreName = (task: string): string =>
  task === 'regression' ? 'mse' : task === 'quantile-regression' ? 'pinball' : 'nll';

/** Whether the members answer as a product of experts; that of Gaussians of one variance is their mean. */
export const answersJointly = ({ strategy }: Pick<RunConfig, 'strategy'>, task: string): boolean =>
  strategy.kind === 'joint' && task !== 'regression';

/** The score of what the ensemble answers: NLL, MSE or pinball loss, the weighted mean over the targets that count. */
export function scoreOf(kept: Kept, isJoint: boolean, epsilon = 0): number {
  const losses = Array.from({ length: countOf(kept) }, (_, sample) => lossesOf(kept, sample, isJoint, epsilon)).flat();
  const { weights } = kept;
  const counted = losses.flatMap((loss, i) => (weights[i] > 0 ? [weights[i] * loss] : []));
  return sum(counted) / sum(weights);
}

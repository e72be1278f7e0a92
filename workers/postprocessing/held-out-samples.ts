import { stackedClasses } from '../../core/metrics/index.ts';
import { checkedWeights } from '../../core/metrics/weights.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import type { HeldOut } from '../../core/postprocessing/held-out.ts';
import type { Dataset } from '../data/dataset.ts';
import { gatherRows } from '../data/fields.ts';
import { concatenate, type MemberOutputs } from '../member/predictions.ts';

const classTasks: readonly TaskKind[] = ['classification', 'binary', 'ordinal'];
/** Whether a task's targets are classes. */
export const predictsClasses = (task: TaskKind): boolean => classTasks.includes(task);

/**
 * Predictions and targets of a split in the form that fits need. Where a sample has a target for each step, each step
 * counts as a sample. Samples whose weight is 0 and targets that a mask excludes are left out; the other weights are
 * kept.
 *
 * @param stack of all members, shape `[M, N, W]`, in which each step of a sample is one of N
 * @param levels of the quantiles in quantile regression; else null
 * @throws Error where members held out different samples
 */
export function heldOutSamples(
  stack: MemberOutputs,
  dataset: Dataset,
  task: TaskKind,
  levels: readonly number[] | null,
): HeldOut {
  refuseDivided(dataset);
  const { samples: count, width } = stack;
  const steps = count / dataset.length;
  const rows = usedRows(dataset, steps);
  const common = { ...weightsOf(dataset, rows, steps), ...ownersOf(dataset, rows, steps) };
  const members = stack.ranks.length;
  const outputs = stack.values.map((output) => chooseRows(output, members, count, rows));
  if (predictsClasses(task)) {
    const kind = stack.kind === 'logits' ? 'logits' : 'probabilities';
    const given = { kind, members, samples: rows.length, width, values: outputs[0] } as const;
    return {
      kind: 'classes',
      stack: stackedClasses(given),
      targets: Int32Array.from(rows, (row) => dataset.targets[row]),
      ...common,
    };
  }
  if (task === 'multi-label') return labelSamples(stack, outputs[0], dataset, rows, common);
  const stackOf = (values: Float32Array) => ({ members, samples: rows.length * width, values });
  return {
    kind: 'values',
    means: stackOf(outputs[0]),
    // The variance of a count is its rate.
    variances: outputs.length > 1 ? stackOf(outputs[1]) : task === 'poisson-regression' ? stackOf(outputs[0]) : null,
    ...(task === 'poisson-regression' && { areCounts: true }),
    columns: width,
    levels,
    ...targetsOf(dataset, count, rows),
    ...common,
  };
}

/** Targets of labels or values, and which of them count. */
function targetsOf({ targets, mask }: Dataset, count: number, rows: Int32Array) {
  return {
    targets: gatherRows(Float32Array.from(targets), count, rows),
    ...(mask && { counted: gatherRows(Uint8Array.from(mask), count, rows) }),
  };
}

function labelSamples(
  { samples: count, width, ranks }: MemberOutputs,
  logits: Float32Array,
  dataset: Dataset,
  rows: Int32Array,
  common: Pick<HeldOut, 'weights' | 'owners'>,
): HeldOut {
  return {
    kind: 'labels',
    stack: { members: ranks.length, samples: rows.length, classes: width, logits },
    ...targetsOf(dataset, count, rows),
    ...common,
  };
}

/** Weights of the rows; none where all are equal. */
function weightsOf({ weights }: Dataset, rows: Int32Array, steps: number): Pick<HeldOut, 'weights'> {
  if (weights === undefined) return {};
  const own = checkedWeights(
    Float64Array.from(rows, (row) => weights[Math.floor(row / steps)]),
    rows.length,
  );
  return own === undefined ? {} : { weights: own };
}

/**
 * The group of each row, or its sample where samples have several rows: fits and their judges have no owner in common.
 */
function ownersOf({ groups }: Dataset, rows: Int32Array, steps: number): Pick<HeldOut, 'owners'> {
  const samples = rows.map((row) => Math.floor(row / steps));
  if (groups !== undefined) return { owners: samples.map((sample) => groups[sample]) };
  return steps === 1 ? {} : { owners: samples };
}

function refuseDivided(dataset: Dataset): void {
  if (dataset.heldOutBy !== undefined) {
    throw new Error(
      `Each member held out other samples of ${dataset.name} and trained on the rest, so the ensemble cannot be ` +
        'calibrated there. Calibrate on the test split: --split test.',
    );
  }
}

/** Rows with a target that counts, ascending. @throws Error where none does */
export function usedRows({ name, length, mask, weights }: Dataset, steps: number): Int32Array {
  const all = Int32Array.from({ length: length * steps }, (_, row) => row);
  const targetsPerRow = mask === undefined ? 1 : mask.length / all.length;
  const rows = all.filter((row) => {
    const isWeighted = weights === undefined || weights[Math.floor(row / steps)] > 0;
    if (!isWeighted || mask === undefined) return isWeighted;
    return mask.subarray(row * targetsPerRow, (row + 1) * targetsPerRow).includes(1);
  });
  if (rows.length > 0) return rows;
  throw new Error(`No sample of ${name} has a weight above 0 and targets that a mask counts: there is nothing to fit.`);
}

function chooseRows(values: Float32Array, members: number, count: number, rows: Int32Array): Float32Array {
  if (rows.length === count) return values;
  const size = values.length / members;
  return concatenate(
    Array.from({ length: members }, (_, member) =>
      gatherRows(values.subarray(member * size, (member + 1) * size), count, rows),
    ),
  );
}

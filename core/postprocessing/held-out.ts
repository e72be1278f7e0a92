import { answeringClasses, answeringLabels, answeringRates, type Combination } from '../metrics/combination.ts';
import { memberRow } from '../metrics/predictions.ts';
import type { StackedClasses, StackedLogits, StackedValues } from '../metrics/stacks.ts';
import type { Weights } from '../metrics/weights.ts';
import type { DistanceScore } from './outside/distances.ts';
import { Generator } from '../random/generator.ts';

interface Weighted {
  /** How the members answer; absent: by the mean. */
  combination?: Combination;
  /** Weight of each sample, shape `[N]`, above 0; absent where all count alike. */
  weights?: Weights;
  /**
   * The data's sample to which each of N belongs, shape `[N]`, where a sample has several steps; absent: each is its
   * own.
   */
  owners?: Int32Array;
  /** Distances to the training samples, shape `[N]` for each score; averaged over the members. */
  distances?: Partial<Record<DistanceScore, Float64Array>>;
}

/** Targets of N samples that have several each, of which some may be missing. */
interface Counted extends Weighted {
  /** 1 for each target that counts, else 0, in the shape of the targets; absent: all do. */
  counted?: Uint8Array;
}

/** Predictions of N samples of classes and their targets. */
export interface ClassSamples extends Weighted {
  kind: 'classes';
  /** Shape `[M, N, K]`. */
  stack: StackedClasses;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
}

/** Predictions of N samples of values and their targets. */
export interface ValueSamples extends Counted {
  kind: 'values';
  /** Shape `[M, N · W]`. */
  means: StackedValues;
  variances: StackedValues | null;
  /** Whether the means are rates of counts, and the variances the same. */
  areCounts?: boolean;
  /** W, outputs of a sample: T targets, or Q quantiles of one target. */
  columns: number;
  /** Levels of the quantiles, shape `[Q]`; null for means. */
  levels: readonly number[] | null;
  /** Shape `[N, T]`. */
  targets: ArrayLike<number>;
}

/** Predictions of N samples that have any of L labels, and their targets. */
export interface LabelSamples extends Counted {
  kind: 'labels';
  /** A logit for each label, shape `[M, N, L]`. */
  stack: StackedLogits;
  /** 1 for each label that a sample has, else 0; shape `[N, L]`. */
  targets: ArrayLike<number>;
}

/** Samples that the members did not train on. */
export type HeldOut = ClassSamples | ValueSamples | LabelSamples;

/**
 * The samples with what answers for them: the members, or their product as the only one. All that is fitted on answers
 * takes these, so that it is fitted on what it will be applied to. Scores of samples outside the training data take the
 * members.
 */
export function withAnswers(samples: HeldOut): HeldOut {
  const { combination = 'mean' } = samples;
  switch (samples.kind) {
    case 'classes':
      return { ...samples, stack: answeringClasses(samples.stack, combination) };
    case 'labels':
      return { ...samples, stack: answeringLabels(samples.stack, combination) };
    case 'values': {
      const { means, variances } = samples;
      return {
        ...samples,
        means: answeringRates(means, combination),
        variances: variances && answeringRates(variances, combination),
      };
    }
  }
}

/** N. */
export function sampleCount(samples: HeldOut): number {
  return samples.kind === 'values' ? samples.means.samples / samples.columns : samples.stack.samples;
}

/** Weights of all targets of labels or values, in their shape: 0 for those that do not count. */
export function countedWeights(samples: LabelSamples | ValueSamples): Weights {
  const { targets, weights, counted } = samples;
  const width = targets.length / sampleCount(samples);
  return Float64Array.from(
    { length: targets.length },
    (_, index) => (weights?.[Math.floor(index / width)] ?? 1) * (counted?.[index] ?? 1),
  );
}

/**
 * Divides samples by chance into two parts without a common one; the steps of a sample stay together.
 *
 * @param share of the samples in the first part
 * @throws RangeError where a part would be empty
 */
export function divideSamples(samples: HeldOut, share: number, seed: number): [HeldOut, HeldOut] {
  const owners = ownersOf(samples);
  const distinct = [...new Set(owners)];
  const count = Math.round(share * distinct.length);
  if (count < 1 || count >= distinct.length) {
    throw new RangeError(
      `A share of ${share} leaves no samples for the calibration or for the rest: there are ${distinct.length} ` +
        'to fit on. Fit everything on all of them: --calibration-share 1.',
    );
  }
  const order = new Generator(seed, 'postprocessing/parts').permutation(distinct.length);
  const first = new Set(order.subarray(0, count));
  const isFirst = new Map(distinct.map((owner, place) => [owner, first.has(place)]));
  const rows = Int32Array.from(owners.keys());
  return [true, false].map((wished) =>
    selectSamples(
      samples,
      rows.filter((row) => isFirst.get(owners[row]) === wished),
    ),
  ) as [HeldOut, HeldOut];
}

/**
 * Divides samples by chance into parts of about the same size, each beside all the others; the steps of a sample stay
 * together. As many parts as samples where these are fewer.
 *
 * @param wished parts
 */
export function foldSamples(
  samples: HeldOut,
  wished: number,
  seed: number,
): { others: HeldOut; part: HeldOut; rows: Int32Array }[] {
  const owners = ownersOf(samples);
  const distinct = [...new Set(owners)];
  const folds = Math.min(wished, distinct.length);
  const order = new Generator(seed, 'postprocessing/folds').permutation(distinct.length);
  const foldOf = new Map(Array.from(order, (place, index) => [distinct[place], index % folds]));
  const all = Int32Array.from(owners.keys());
  return Array.from({ length: folds }, (_, fold) => {
    const isIn = (row: number): boolean => foldOf.get(owners[row]) === fold;
    const rows = all.filter(isIn);
    return {
      others: selectSamples(
        samples,
        all.filter((row) => !isIn(row)),
      ),
      part: selectSamples(samples, rows),
      rows,
    };
  });
}

/** The data's sample to which each of N belongs, shape `[N]`. */
export function ownersOf(samples: HeldOut): Int32Array {
  return samples.owners ?? Int32Array.from({ length: sampleCount(samples) }, (_, row) => row);
}

/** The samples at `rows`, in that order. */
function selectSamples(samples: HeldOut, rows: Int32Array): HeldOut {
  const common = {
    ...(samples.combination && { combination: samples.combination }),
    ...(samples.weights && { weights: Float64Array.from(rows, (row) => samples.weights?.[row] ?? 1) }),
    ...(samples.distances && { distances: selectDistances(samples.distances, rows) }),
    ...(samples.owners && { owners: Int32Array.from(rows, (row) => samples.owners?.[row] ?? row) }),
  };
  if (samples.kind === 'classes') {
    const { stack, targets } = samples;
    return { kind: 'classes', stack: selectClasses(stack, rows), targets: rows.map((row) => targets[row]), ...common };
  }
  const width = samples.targets.length / sampleCount(samples);
  const { length } = rows;
  const ofTargets = (values: ArrayLike<number>): Float64Array =>
    Float64Array.from({ length: length * width }, (_, i) => values[rows[Math.floor(i / width)] * width + (i % width)]);
  const { counted } = samples;
  const chosen = {
    targets: ofTargets(samples.targets),
    ...(counted && { counted: Uint8Array.from(ofTargets(counted)) }),
  };
  if (samples.kind === 'labels') {
    const { stack } = samples;
    const own = { ...stack, samples: length, logits: selectRows(stack, rows, stack.classes) };
    return { kind: 'labels', stack: own, ...chosen, ...common };
  }
  const { means, variances, columns } = samples;
  return {
    ...samples,
    ...common,
    means: selectValues(means, rows, columns),
    variances: variances && selectValues(variances, rows, columns),
    ...chosen,
  };
}

function selectDistances(distances: NonNullable<HeldOut['distances']>, rows: Int32Array) {
  return Object.fromEntries(
    Object.entries(distances).map(([score, own]) => [score, Float64Array.from(rows, (row) => own[row])]),
  );
}

function selectClasses(stack: StackedClasses, rows: Int32Array): StackedClasses {
  const { members, classes } = stack;
  const values = selectRows(stack, rows, classes);
  const shape = { members, samples: rows.length, classes };
  return 'logits' in stack ? { ...shape, logits: values } : { ...shape, values };
}

function selectValues(stack: StackedValues, rows: Int32Array, columns: number): StackedValues {
  return { members: stack.members, samples: rows.length * columns, values: selectRows(stack, rows, columns) };
}

/** Rows of `width` values of each member. */
function selectRows(stack: StackedClasses | StackedValues, rows: Int32Array, width: number): Float32Array {
  const values = new Float32Array(stack.members * rows.length * width);
  for (let member = 0; member < stack.members; member++) {
    const own = memberRow(stack, member);
    rows.forEach((row, place) =>
      values.set(own.subarray(row * width, (row + 1) * width), (member * rows.length + place) * width),
    );
  }
  return values;
}

import type { Probabilities } from '../../metrics/stacks.ts';
import type { Weights } from '../../metrics/weights.ts';
import type { IsotonicMap } from '../schema.ts';

/**
 * The monotone map of scores to [0, 1] with the least squared error to labels from 0 to 1, by pooling adjacent
 * violators. Equal scores count as one with their mean label. Only the ends of constant pieces are kept.
 *
 * Source: Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD
 * 2002; the same map as scikit-learn's `IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")`.
 *
 * @param scores shape `[N]`
 * @param labelOf the label of each sample, from 0 to 1
 * @param weights of the samples, shape `[N]`
 */
export function fitIsotonic(scores: Float64Array, labelOf: (sample: number) => number, weights?: Weights): IsotonicMap {
  const order = Uint32Array.from(scores.keys()).sort((left, right) => scores[left] - scores[right]);
  const blocks: { first: number; last: number; weight: number; mean: number }[] = [];
  for (const [place, sample] of order.entries()) {
    const score = scores[sample];
    const label = labelOf(sample);
    const weight = weights?.[sample] ?? 1;
    const tied = blocks.at(-1);
    // A block of a single score may still receive its ties; only then is it compared with the one before.
    if (tied !== undefined && tied.first === score && tied.last === score)
      join(tied, { last: score, weight, mean: label });
    else blocks.push({ first: score, last: score, weight, mean: label });
    const next = place + 1 < order.length ? scores[order[place + 1]] : NaN;
    if (next !== score) pool(blocks);
  }
  const from: number[] = [];
  const to: number[] = [];
  for (const { first, last, mean } of blocks) {
    from.push(first);
    to.push(mean);
    if (last === first) continue;
    from.push(last);
    to.push(mean);
  }
  return { from, to };
}

type Block = { first: number; last: number; weight: number; mean: number };

function pool(blocks: Block[]): void {
  while (blocks.length > 1 && blocks[blocks.length - 2].mean >= blocks[blocks.length - 1].mean) {
    const last = blocks.pop();
    if (last !== undefined) join(blocks[blocks.length - 1], last);
  }
}

function join(block: Block, { last, weight, mean }: Omit<Block, 'first'>): void {
  block.mean = (block.mean * block.weight + mean * weight) / (block.weight + weight);
  block.weight += weight;
  block.last = last;
}

/**
 * Maps each class's probability and divides by the sum; a row whose maps are all 0 becomes uniform.
 *
 * @param values shape `[N, K]`, not changed
 */
export function applyIsotonic(maps: readonly IsotonicMap[], values: Float64Array): Probabilities {
  const classes = maps.length;
  const mapped = values.map((value, index) => interpolate(maps[index % classes], value));
  for (let start = 0; start < mapped.length; start += classes) {
    const row = mapped.subarray(start, start + classes);
    const sum = row.reduce((total, value) => total + value, 0);
    if (sum === 0) row.fill(1 / classes);
    else for (let index = 0; index < classes; index++) row[index] /= sum;
  }
  return { samples: values.length / classes, classes, values: mapped };
}

/** Linear between the map's points, constant outside; NaN for NaN. */
export function interpolate({ from, to }: IsotonicMap, value: number): number {
  if (Number.isNaN(value)) return NaN;
  let low = 0;
  let high = from.length - 1;
  if (value <= from[low]) return to[low];
  if (value >= from[high]) return to[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  return to[low] + ((to[high] - to[low]) * (value - from[low])) / (from[high] - from[low]);
}

/** A part of a map that is not constant. */
interface RisingPiece {
  start: number;
  /** Above 0, also where the map jumps. */
  length: number;
  rise: number;
}

/**
 * A map as its first value and the pieces that rise from there: its value at p is to[0] + Σ rise · min(max((p − start)
 * / length, 0), 1).
 */
export function risingPieces({ from, to }: IsotonicMap): RisingPiece[] {
  return from.slice(1).flatMap((end, i) => {
    const rise = to[i + 1] - to[i];
    // The length must not become 0 in float32.
    return rise === 0 ? [] : [{ start: from[i], length: Math.max(end - from[i], 1e-30), rise }];
  });
}

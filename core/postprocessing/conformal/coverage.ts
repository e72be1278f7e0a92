import type { Measured } from '../measured-schema.ts';
import type { Intervals } from './intervals.ts';

type Coverage = NonNullable<Measured['conformal']>;

/**
 * Share of the samples whose set has their class, with its standard error sqrt(c (1 − c) / n), the mean number of classes in a set, and the
 * share for each class.
 *
 * @param sets shape `[N, K]`
 * @param targets class indices, shape `[N]`
 */
export function setCoverage(sets: Uint8Array, targets: Int32Array): Coverage {
  const samples = targets.length;
  const classes = sets.length / samples;
  const covered = new Float64Array(classes);
  const counts = new Float64Array(classes);
  targets.forEach((target, sample) => {
    counts[target] += 1;
    covered[target] += sets[sample * classes + target];
  });
  const coverage = covered.reduce((sum, count) => sum + count, 0) / samples;
  return {
    coverage,
    standardError: standardErrorOf(coverage, samples),
    meanSize: sets.reduce((sum, isIn) => sum + isIn, 0) / samples,
    classCoverage: Array.from(covered, (count, label) => count / counts[label]),
  };
}

/** Share of targets within their intervals, with its standard error, and the mean width. Shapes `[N]`. */
export function intervalCoverage({ lower, upper }: Intervals, targets: ArrayLike<number>): Coverage {
  const inside = lower.filter((low, index) => targets[index] >= low && targets[index] <= upper[index]).length;
  const coverage = inside / lower.length;
  const width = lower.reduce((sum, low, index) => sum + upper[index] - low, 0) / lower.length;
  return {
    coverage,
    standardError: standardErrorOf(coverage, lower.length),
    meanSize: width,
    classCoverage: null,
  };
}

function standardErrorOf(share: number, samples: number): number {
  return Math.sqrt((share * (1 - share)) / samples);
}

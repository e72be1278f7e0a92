import { totalWeight, weightedMean, type Weights } from '../../metrics/weights.ts';
import { countedWeights, type LabelSamples } from '../held-out.ts';
import type { Measured } from '../measured-schema.ts';
import type { Intervals } from './intervals.ts';

type Coverage = NonNullable<Measured['conformal']>;

/**
 * Share of the samples whose set has their class, with its standard error sqrt(c (1 − c) / n), the mean number of
 * classes in a set, and the share for each class.
 *
 * @param sets shape `[N, K]`
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`: shares and means are weighted
 */
export function setCoverage(sets: Uint8Array, targets: Int32Array, weights?: Weights): Coverage {
  const samples = targets.length;
  const classes = sets.length / samples;
  const covered = new Float64Array(classes);
  const counts = new Float64Array(classes);
  const sizes = new Float64Array(samples);
  targets.forEach((target, sample) => {
    const weight = weights?.[sample] ?? 1;
    counts[target] += weight;
    covered[target] += weight * sets[sample * classes + target];
    sizes[sample] = sets.subarray(sample * classes, (sample + 1) * classes).reduce((sum, isIn) => sum + isIn, 0);
  });
  const coverage = covered.reduce((sum, count) => sum + count, 0) / totalWeight(samples, weights);
  return {
    coverage,
    standardError: standardErrorOf(coverage, samples, weights),
    meanSize: weightedMean(sizes, weights),
    classCoverage: Array.from(covered, (count, label) => count / counts[label]),
  };
}

/**
 * Share of the labels that samples have which are in the sample's set, the mean number of labels in a set, and the
 * share for each label.
 *
 * @param sets shape `[N, L]`
 */
export function labelCoverage(sets: Uint8Array, samples: LabelSamples): Coverage {
  const labels = samples.stack.classes;
  const weights = countedWeights(samples).map((weight, index) => (samples.targets[index] === 1 ? weight : 0));
  const ofLabel = (label: number) => (_: number, index: number) => index % labels === label;
  const sizes = Float64Array.from({ length: sets.length / labels }, (_, sample) =>
    sets.subarray(sample * labels, (sample + 1) * labels).reduce((sum, isIn) => sum + isIn, 0),
  );
  const coverage = weightedMean(sets, weights);
  return {
    coverage,
    standardError: standardErrorOf(coverage, sets.length, weights),
    meanSize: weightedMean(sizes, samples.weights),
    classCoverage: Array.from({ length: labels }, (_, label) =>
      weightedMean(sets.filter(ofLabel(label)), weights.filter(ofLabel(label))),
    ),
  };
}

/** Share of targets within their intervals, with its standard error, and the mean width. Shapes `[N]`. */
export function intervalCoverage({ lower, upper }: Intervals, targets: ArrayLike<number>, weights?: Weights): Coverage {
  const isInside = lower.map((low, index) => Number(targets[index] >= low && targets[index] <= upper[index]));
  const coverage = weightedMean(isInside, weights);
  return {
    coverage,
    standardError: standardErrorOf(coverage, lower.length, weights),
    meanSize: weightedMean(
      lower.map((low, index) => upper[index] - low),
      weights,
    ),
    classCoverage: null,
  };
}

/** sqrt(c (1 − c) / n), where weighted samples count as (Σ w)² / Σ w² (Kish, "Survey sampling", 1965). */
function standardErrorOf(share: number, samples: number, weights?: Weights): number {
  const squares = weights?.reduce((sum, weight) => sum + weight ** 2, 0) ?? samples;
  return Math.sqrt((share * (1 - share) * squares) / totalWeight(samples, weights) ** 2);
}

import { checkShape, checkVariances } from '../checks.ts';
import { mean } from '../predictions.ts';
import type { Values } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';
import { normalDensity, normalDistribution } from '../../numeric/normal.ts';

/** One Gaussian per value, shape `[N]` each. A uniformly weighted mixture is a list of them. */
export interface Gaussians {
  means: Values;
  variances: Values;
}

/**
 * Continuous ranked probability score of a uniformly weighted mixture of Gaussians, the mean over n of ∫ (F_n(x) - [x ≥
 * y_n])² dx = 1/M Σ_m A(y - μ_m, σ²_m) - 1/(2M²) Σ_m Σ_k A(μ_m - μ_k, σ²_m + σ²_k), in the unit of the targets, with
 * A(δ, v) = E|Normal(δ, v)| = δ (2 Φ(δ/√v) - 1) + 2 √v φ(δ/√v). For one Gaussian it is σ (z (2 Φ(z) - 1) + 2 φ(z) -
 * 1/√π).
 *
 * Source: Grimit, Gneiting, Berrocal and Johnson, "The continuous ranked probability score for circular variables and
 * its application to mesoscale forecast ensemble verification", 2006, equation 5.
 *
 * @param mixture the members' Gaussians
 * @param targets shape `[N]`
 * @param weights shape `[N]`
 * @throws RangeError when shapes differ or a variance is negative
 */
export function rankedProbabilityScore(mixture: readonly Gaussians[], targets: Values, weights?: Weights): number {
  checkMixture(mixture, targets);
  const members = mixture.length;
  return weightedMean(
    Float64Array.from(targets, (target, n) => {
      let [toTarget, between] = [0, 0];
      mixture.forEach(({ means, variances }, member) => {
        toTarget += absoluteMean(target - means[n], variances[n]);
        between += absoluteMean(0, 2 * variances[n]);
        for (const other of mixture.slice(0, member)) {
          between += 2 * absoluteMean(means[n] - other.means[n], variances[n] + other.variances[n]);
        }
      });
      return toTarget / members - between / (2 * members ** 2);
    }),
    weights,
  );
}

/**
 * Probability integral transform of each target under a uniformly weighted mixture of Gaussians, u_n = 1/M Σ_m Φ((y_n -
 * μ_mn) / σ_mn), shape `[N]`: the mixture's distribution function at the target. Uniform on [0, 1] if the prediction is
 * calibrated; NaN where it is not defined, such as on a Gaussian of variance 0 whose mean is the target.
 *
 * Source: Gneiting, Balabdaoui and Raftery, "Probabilistic forecasts, calibration and sharpness", 2007, section 3.1.
 *
 * @throws RangeError when shapes differ or a variance is negative
 */
export function probabilityIntegralTransform(mixture: readonly Gaussians[], targets: Values): Float64Array {
  checkMixture(mixture, targets);
  return Float64Array.from(targets, (target, n) =>
    mean(mixture.map(({ means, variances }) => normalDistribution((target - means[n]) / Math.sqrt(variances[n])))),
  );
}

/**
 * Coverage: the share of targets within the central interval of probability `level` of a mixture of Gaussians, whose
 * distribution function at them is from (1 - level)/2 to (1 + level)/2. A calibrated prediction has a coverage of
 * `level`.
 *
 * @throws RangeError when shapes differ or a variance is negative
 */
export function intervalCoverage(
  mixture: readonly Gaussians[],
  targets: Values,
  level: number,
  weights?: Weights,
): number {
  return coverageOfTransform(probabilityIntegralTransform(mixture, targets), level, weights);
}

/**
 * The same coverage from the {@link probabilityIntegralTransform} u of the targets: the share with (1 - level)/2 ≤ u ≤
 * (1 + level)/2. NaN where a u is NaN, since nobody knows whether that target is inside.
 */
export function coverageOfTransform(transform: Values, level: number, weights?: Weights): number {
  const inside = Float64Array.from(transform, (below) => {
    if (Number.isNaN(below)) return NaN;
    return below >= (1 - level) / 2 && below <= (1 + level) / 2 ? 1 : 0;
  });
  return weightedMean(inside, weights);
}

/** E|X| of a normal X. */
function absoluteMean(center: number, variance: number): number {
  const deviation = Math.sqrt(variance);
  const z = center / deviation;
  if (!Number.isFinite(z)) return NaN;
  return center * (2 * normalDistribution(z) - 1) + 2 * deviation * normalDensity(z);
}

function checkMixture(mixture: readonly Gaussians[], targets: Values): void {
  for (const { means, variances } of mixture) {
    checkShape('targets', targets, [means.length]);
    checkShape('variances', variances, [means.length]);
    checkVariances(variances);
  }
}

import { logLikelihoods, mixtureLogLikelihoods } from '../../metrics/likelihood.ts';
import { gaussianLogDensities } from '../../metrics/regression.ts';
import type { Gaussians } from '../../metrics/scores/mixture-scores.ts';
import type { Probabilities } from '../../metrics/stacks.ts';
import { weightedMean } from '../../metrics/weights.ts';
import { applyTo } from '../answers.ts';
import { calibratedMixture, type Fitted, pooledValues } from '../apply.ts';
import { countedWeights, foldSamples, type HeldOut, ownersOf, type ValueSamples } from '../held-out.ts';
import { softplus } from '../labels/label-answers.ts';
import type { Calibration, Judged } from '../schema.ts';
import { effectiveCount } from './prior.ts';

const FOLDS = 5;
/** Further samples of the interval, with the gains that the uncalibrated answers expect: 1.96² of them, as Agresti and Coull (1998) add. */
const EXPECTED_SAMPLES = 4;

/** By how much a calibration raises log-likelihoods: what was seen, and what the uncalibrated answers expect of it. Shape `[N]` each. */
interface Gains {
  seen: Float64Array;
  expected: Float64Array;
  expectedSquare: Float64Array;
}

/**
 * Cross-validates a calibration: by how much it lowers the NLL of samples that it was not fitted on, in nats, with an interval of 95 %. Four further
 * samples count as well, with the gains that the uncalibrated answers expect of them: what so few samples cannot have shown, such as the first error
 * of an ensemble that was always right, widens the interval. The steps of a sample count as one.
 *
 * Source: the interval is the mean of n + {@link EXPECTED_SAMPLES} gains ± 1.96 standard errors, after Agresti and Coull, "Approximate is better than
 * 'exact' for interval estimation of binomial proportions", 1998, who add such samples to a proportion.
 *
 * @param fit fits the calibration on other samples
 */
export function crossValidate(
  fit: (samples: HeldOut) => Calibration,
  samples: HeldOut,
  seed: number,
): Pick<Judged, 'samples' | 'folds' | 'gain'> {
  const owners = ownersOf(samples);
  const count = new Set(owners).size;
  if (count < 2) return { samples: count, folds: 1, gain: { mean: NaN, lower: NaN, upper: NaN } };
  const folds = foldSamples(samples, FOLDS, seed);
  const units = new Map<number, { weight: number; seen: number; expected: number; square: number }>();
  for (const { others, part, rows } of folds) {
    const weights = part.weights ?? new Float64Array(rows.length).fill(1);
    const { seen, expected, expectedSquare } = gainsOf(fit(others), part);
    rows.forEach((row, place) => {
      const unit = units.get(owners[row]) ?? { weight: 0, seen: 0, expected: 0, square: 0 };
      unit.weight += weights[place];
      unit.seen += weights[place] * seen[place];
      unit.expected += weights[place] * expected[place];
      unit.square += weights[place] * expectedSquare[place];
      units.set(owners[row], unit);
    });
  }
  return { samples: count, folds: folds.length, gain: intervalOf([...units.values()]) };
}

/** The sums of a unit are weighted. */
function intervalOf(
  units: readonly { weight: number; seen: number; expected: number; square: number }[],
): Judged['gain'] {
  const weights = Float64Array.from(units, ({ weight }) => weight);
  const meanOf = (value: (unit: (typeof units)[number]) => number): number =>
    weightedMean(
      Float64Array.from(units, (unit) => value(unit) / unit.weight),
      weights,
    );
  const seen = effectiveCount(units.length, weights);
  const share = seen / (seen + EXPECTED_SAMPLES);
  const mean = share * meanOf((unit) => unit.seen) + (1 - share) * meanOf((unit) => unit.expected);
  const square = share * meanOf((unit) => unit.seen ** 2 / unit.weight) + (1 - share) * meanOf((unit) => unit.square);
  const error = Math.sqrt(Math.max(0, square - mean ** 2) / (seen + EXPECTED_SAMPLES));
  return { mean, lower: mean - 1.96 * error, upper: mean + 1.96 * error };
}

function gainsOf(calibration: Calibration, samples: HeldOut): Gains {
  const fitted = { calibration, conformal: null, outside: null, selective: null };
  const plain = { ...fitted, calibration: null };
  if (samples.kind === 'values') return gainsOfValues(fitted, samples);
  if (samples.kind === 'classes') {
    const [before, after] = [plain, fitted].map((own) => applyTo(own, samples).probabilities);
    return gainsOfClasses(before, after, samples.targets);
  }
  const [before, after] = [plain, fitted].map((own) => asTwoClasses(applyTo(own, samples).logits));
  const each = gainsOfClasses(before, after, Int32Array.from(samples.targets));
  const weights = countedWeights({ ...samples, weights: undefined });
  const perSample = (values: Float64Array): Float64Array => meansOf(values, samples.stack.classes, weights);
  return {
    seen: perSample(each.seen),
    expected: perSample(each.expected),
    expectedSquare: perSample(each.expectedSquare),
  };
}

function gainsOfClasses(before: Probabilities, after: Probabilities, targets: Int32Array): Gains {
  const { samples, classes } = before;
  const [old, own] = [logLikelihoods(before, targets), logLikelihoods(after, targets)];
  const [expected, expectedSquare] = [new Float64Array(samples), new Float64Array(samples)];
  const logOf = ({ logValues, values }: Probabilities, index: number): number =>
    logValues?.[index] ?? Math.log(values[index]);
  for (let index = 0; index < samples * classes; index++) {
    const probability = before.values[index];
    if (probability === 0) continue;
    const gain = logOf(after, index) - logOf(before, index);
    expected[Math.floor(index / classes)] += probability * gain;
    expectedSquare[Math.floor(index / classes)] += probability * gain ** 2;
  }
  return { seen: own.map((value, sample) => value - old[sample]), expected, expectedSquare };
}

/** Of a Gaussian with the deviation σ, a deviation s σ expects the gain −log s + (1 − 1/s²) z² / 2 with z² of mean 1 and variance 2. */
function gainsOfValues(fitted: Fitted, samples: ValueSamples): Gains {
  const { columns } = samples;
  const scales = fitted.calibration?.method === 'sigma' ? fitted.calibration.scales : [];
  const targets = Float64Array.from(samples.targets);
  const [before, after] = [null, fitted.calibration].map((calibration) => {
    const { mixture = [] } = predictedDensity({ calibration }, samples) ?? {};
    return mixtureLogLikelihoods(mixture.map((own) => gaussianLogDensities(own.means, own.variances, targets)));
  });
  const expected = scales.map((scale) => -Math.log(scale) + 0.5 * (1 - scale ** -2));
  const squares = scales.map((scale, column) => expected[column] ** 2 + 0.5 * (1 - scale ** -2) ** 2);
  const average = (values: readonly number[]): Float64Array =>
    new Float64Array(targets.length / columns).fill(values.reduce((sum, value) => sum + value, 0) / columns);
  return {
    seen: meansOf(
      after.map((value, index) => value - before[index]),
      columns,
    ),
    expected: average(expected),
    expectedSquare: average(squares),
  };
}

/** Means of each `width` values; 0 where all weights are. */
function meansOf(values: Float64Array, width: number, weights?: ArrayLike<number>): Float64Array {
  const [sums, totals] = [new Float64Array(values.length / width), new Float64Array(values.length / width)];
  values.forEach((value, index) => {
    const weight = weights?.[index] ?? 1;
    if (weight === 0) return;
    sums[Math.floor(index / width)] += weight * value;
    totals[Math.floor(index / width)] += weight;
  });
  return sums.map((sum, place) => (totals[place] === 0 ? 0 : sum / totals[place]));
}

/** [1 − p, p] of each logit of p. */
export function asTwoClasses(logits: Float64Array): Probabilities {
  const logValues = new Float64Array(2 * logits.length);
  logits.forEach((logit, index) => {
    logValues[2 * index] = -softplus(logit);
    logValues[2 * index + 1] = -softplus(-logit);
  });
  return { samples: logits.length, classes: 2, values: logValues.map(Math.exp), logValues };
}

/** The density by which values are judged, and how its figures' names begin. */
export function predictedDensity(
  fitted: Pick<Fitted, 'combination' | 'calibration'>,
  samples: ValueSamples,
): { mixture: Gaussians[]; prefix: string } | null {
  const { means, variances, areCounts = false, columns } = samples;
  if (variances !== null && !areCounts) {
    return { mixture: calibratedMixture(fitted, means, variances, columns), prefix: '' };
  }
  const { mean, variance } = pooledValues(fitted, means, variances, columns);
  return variance === null ? null : { mixture: [{ means: mean, variances: variance }], prefix: 'gaussian_' };
}

import { logLikelihoods, mixtureLogLikelihoods } from '../../metrics/likelihood.ts';
import { gaussianLogDensities } from '../../metrics/regression.ts';
import type { Gaussians } from '../../metrics/scores/mixture-scores.ts';
import type { Probabilities, Values } from '../../metrics/stacks.ts';
import { totalWeight, weightedMean, type Weights } from '../../metrics/weights.ts';
import { applyTo } from '../answers.ts';
import { calibratedMixture, type Fitted, pooledValues } from '../apply.ts';
import {
  type ClassSamples,
  countedWeights,
  foldSamples,
  type HeldOut,
  type LabelSamples,
  ownersOf,
  type ValueSamples,
} from '../held-out.ts';
import { softplus } from '../label-answers.ts';
import type { Calibration, Judged } from '../schema.ts';

const FOLDS = 5;
/**
 * Further samples of the interval, with the gains that the uncalibrated answers expect: 1.96² of them, as Agresti and
 * Coull (1998) add.
 */
const EXPECTED_SAMPLES = 4;

/**
 * A figure of each sample, such as by how much a calibration raises its log-likelihood: what was seen, and what the
 * uncalibrated answers expect. Shape `[N]` each.
 */
interface Gains {
  seen: Float64Array;
  expected: Float64Array;
  expectedSquare: Float64Array;
}

/**
 * Cross-validates a calibration: by how much it lowers the NLL of samples that it was not fitted on, in nats, with an
 * interval of 95 %. Four further samples count as well, with the gains that the uncalibrated answers expect of them:
 * what so few samples cannot have shown, such as the first error of an ensemble that was always right, widens the
 * interval. The steps of a sample count as one.
 *
 * Source: the interval is the mean of n + {@link EXPECTED_SAMPLES} gains ± 1.96 standard errors, after Agresti and
 * Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions", 1998, who add such
 * samples to a proportion.
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
  const units: Units = new Map();
  for (const { others, part, rows } of folds) {
    const partOwners = rows.map((row) => owners[row]);
    addTo(units, gainsOf(fit(others), part), partOwners, part.weights);
  }
  return { samples: count, folds: folds.length, gain: intervalOf([...units.values()]) };
}

/**
 * The average over samples of ln p(y) − 1/K Σ_k ln p(k), the excess of the right class over the mean of all classes, in
 * nats, with the same interval of 95 %. It is 0 where answers say nothing of the labels, and below 0 where they
 * contradict them, as with classes in another order. It is the slope of the log-likelihood by 1 / T where T is
 * infinite, so below 0 no temperature has a lower NLL than equal probabilities. Null for values.
 */
export function agreementOf(samples: HeldOut): Judged['gain'] | null {
  if (samples.kind === 'values') return null;
  const { probabilities, targets, perSample } = pairedOf(null, samples);
  const { classes, values } = probabilities;
  const excess = Float64Array.from({ length: values.length }, (_, index) => logOf(probabilities, index));
  for (let start = 0; start < excess.length; start += classes) {
    const row = excess.subarray(start, start + classes);
    const mean = row.reduce((sum, value) => sum + value, 0) / classes;
    row.forEach((value, label) => (row[label] = value - mean));
  }
  const each = {
    seen: Float64Array.from(targets, (target, sample) => excess[sample * classes + target]),
    ...expectationsOf(values, excess, classes),
  };
  const units: Units = new Map();
  addTo(units, perSample(each), ownersOf(samples), samples.weights);
  return intervalOf([...units.values()]);
}

/** Weighted sums of what belongs to one of the data's samples, by its number. */
type Units = Map<number, { weight: number; seen: number; expected: number; square: number }>;

function addTo(units: Units, { seen, expected, expectedSquare }: Gains, owners: Int32Array, weights?: Weights): void {
  owners.forEach((owner, place) => {
    const weight = weights?.[place] ?? 1;
    const unit = units.get(owner) ?? { weight: 0, seen: 0, expected: 0, square: 0 };
    unit.weight += weight;
    unit.seen += weight * seen[place];
    unit.expected += weight * expected[place];
    unit.square += weight * expectedSquare[place];
    units.set(owner, unit);
  });
}

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
  if (samples.kind === 'values') return gainsOfValues(fittedWith(calibration), samples);
  const { probabilities: before, targets, perSample } = pairedOf(null, samples);
  const { probabilities: after } = pairedOf(calibration, samples);
  const [old, own] = [logLikelihoods(before, targets), logLikelihoods(after, targets)];
  const gains = Float64Array.from(before.values, (_, index) => logOf(after, index) - logOf(before, index));
  const seen = own.map((value, sample) => value - old[sample]);
  return perSample({ seen, ...expectationsOf(before.values, gains, before.classes) });
}

const fittedWith = (calibration: Calibration | null): Fitted => ({
  calibration,
  conformal: null,
  outside: null,
  selective: null,
});

/**
 * Calibrated probabilities of classes, or of each label's two states, with their targets, and how figures of these
 * become such of samples.
 */
function pairedOf(calibration: Calibration | null, samples: ClassSamples | LabelSamples) {
  const fitted = fittedWith(calibration);
  if (samples.kind === 'classes') {
    const { probabilities } = applyTo(fitted, samples);
    return { probabilities, targets: samples.targets, perSample: (gains: Gains): Gains => gains };
  }
  const weights = countedWeights({ ...samples, weights: undefined });
  const mean = (values: Float64Array): Float64Array => meansOf(values, samples.stack.classes, weights);
  return {
    probabilities: asTwoClasses(applyTo(fitted, samples).logits),
    targets: Int32Array.from(samples.targets),
    perSample: ({ seen, expected, expectedSquare }: Gains): Gains => ({
      seen: mean(seen),
      expected: mean(expected),
      expectedSquare: mean(expectedSquare),
    }),
  };
}

const logOf = ({ logValues, values }: Probabilities, index: number): number =>
  logValues?.[index] ?? Math.log(values[index]);

/** Σ_k p_k x_k and Σ_k p_k x_k² of each sample, from p and x of shape `[N, K]`. */
function expectationsOf(probabilities: Values, figures: Float64Array, classes: number): Omit<Gains, 'seen'> {
  const [expected, expectedSquare] = [0, 0].map(() => new Float64Array(probabilities.length / classes));
  probabilities.forEach((probability, index) => {
    if (probability === 0) return;
    expected[Math.floor(index / classes)] += probability * figures[index];
    expectedSquare[Math.floor(index / classes)] += probability * figures[index] ** 2;
  });
  return { expected, expectedSquare };
}

/**
 * Replacing the deviation σ of a Gaussian by s σ gains −log s + (1 − 1/s²) z² / 2, where z² has mean 1 and variance 2.
 */
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
  const average = (valueOf: (index: number) => number): Float64Array =>
    meansOf(
      targets.map((_, index) => valueOf(index)),
      columns,
      samples.counted,
    );
  return {
    seen: average((index) => after[index] - before[index]),
    expected: average((index) => expected[index % columns]),
    expectedSquare: average((index) => squares[index % columns]),
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

/**
 * The prior of all fits: as if this many further samples had been seen, with the outcomes that the uncalibrated answers
 * expect. It draws a fit towards no calibration where samples are few, and hardly counts where they are many.
 */
export const PRIOR_SAMPLES = 10;

/** n of weighted samples, (Σ w)² / Σ w² (Kish, "Survey sampling", 1965). */
function effectiveCount(samples: number, weights?: Weights): number {
  const squares = weights?.reduce((sum, weight) => sum + weight ** 2, 0) ?? samples;
  return totalWeight(samples, weights) ** 2 / squares;
}

/** What the prior weighs beside the samples: `prior` / n. */
export const priorShare = (prior: number, samples: number, weights?: Weights): number =>
  prior === 0 ? 0 : prior / effectiveCount(samples, weights);

/**
 * What a fit should predict: the classes, and with the weight of the prior the uncalibrated probabilities, ([k = y] +
 * share p_k) / (1 + share), shape `[N, K]`. The cross-entropy to these is the NLL of the samples and of the prior's
 * together, divided by 1 + share.
 *
 * @param targets class indices, shape `[N]`
 * @param logarithms of the uncalibrated probabilities, shape `[N, K]`
 */
export function softTargets(targets: Int32Array, logarithms: Float64Array, share: number): Float64Array {
  const classes = logarithms.length / targets.length;
  const soft = logarithms.map((value) => (share === 0 ? 0 : (share * Math.exp(value)) / (1 + share)));
  targets.forEach((target, sample) => (soft[sample * classes + target] += 1 / (1 + share)));
  return soft;
}

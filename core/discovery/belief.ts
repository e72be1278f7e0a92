import type { EnsemblePredictions } from '../ensemble/predictions.ts';
import { Generator } from '../random/generator.ts';

/**
 * What an ensemble believes of the N candidates of a pool. Legend: M members, N candidates. Arrays are row-major.
 * Values are those that a search wants: larger is better.
 */
export interface Belief {
  /** M. */
  members: number;
  /** N. */
  candidates: number;
  /** What each member expects of each candidate, shape `[M, N]`. */
  values: Float64Array;
  /** The members' mean, shape `[N]`. */
  mean: Float64Array;
  /** Standard deviation of the members, √(1/M Σ_m (f_m − μ)²), shape `[N]`. */
  deviation: Float64Array;
  /**
   * Variance of an observation around its expectation, shape `[N]`: p(1 − p) of a class, the predicted variance of a
   * value; 0 where none is predicted.
   */
  noise: Float64Array;
  /** Uncertainty in total, shape `[N]`: the entropy of classes in nats; of values the variance of the mixture. */
  uncertainty: Float64Array;
  /**
   * What an observation would say about the members, shape `[N]`, in nats: the mutual information of class and member;
   * of values ½ log(1 + σ²/noise), which is infinite where members disagree and predict no noise.
   */
  information: Float64Array;
}

/** What a search wants of the predictions: the probability of a class, or large or small values. */
export type Goal = { kind: 'class'; label: number } | { kind: 'maximize' } | { kind: 'minimize' };

/**
 * The belief that predictions of one target amount to.
 * @throws Error if a sample has several targets, or the goal does not fit the predictions
 */
export function beliefOf(predictions: EnsemblePredictions, goal: Goal): Belief {
  if (predictions.kind === 'classes' && goal.kind === 'class') return ofClasses(predictions, goal.label);
  if (predictions.kind === 'values' && goal.kind !== 'class') return ofValues(predictions, goal.kind);
  throw new Error(
    `A search for ${goal.kind === 'class' ? 'a class' : 'values'} cannot use predictions of ${predictions.kind}. ` +
      'Projects of the tasks binary and classification search for a class, regression and heteroscedastic-regression ' +
      'for values.',
  );
}

/** The mean and the deviation of members' values `[M, N]`, each of shape `[N]`. */
export function momentsOf(values: Float64Array, members: number): Pick<Belief, 'mean' | 'deviation'> {
  const candidates = values.length / members;
  const mean = new Float64Array(candidates);
  for (let i = 0; i < values.length; i++) mean[i % candidates] += values[i];
  for (let i = 0; i < candidates; i++) mean[i] /= members;
  const deviation = new Float64Array(candidates);
  for (let i = 0; i < values.length; i++) deviation[i % candidates] += (values[i] - mean[i % candidates]) ** 2;
  for (let i = 0; i < candidates; i++) deviation[i] = Math.sqrt(deviation[i] / members);
  return { mean, deviation };
}

type Classes = Extract<EnsemblePredictions, { kind: 'classes' }>;

function ofClasses(
  { memberCount, samples, width, members, entropy, mutualInformation }: Classes,
  label: number,
): Belief {
  if (!(Number.isInteger(label) && label >= 0 && label < width)) {
    throw new RangeError(`Class ${label} is none of the ${width} classes: choose one from 0 to ${width - 1}.`);
  }
  const values = Float64Array.from({ length: memberCount * samples }, (_, i) => members[i * width + label]);
  const { mean, deviation } = momentsOf(values, memberCount);
  const noise = mean.map((share) => share * (1 - share));
  const own = { mean, deviation, noise, uncertainty: entropy, information: mutualInformation };
  return { members: memberCount, candidates: samples, values, ...own };
}

type Values = Extract<EnsemblePredictions, { kind: 'values' }>;

function ofValues(predictions: Values, kind: 'maximize' | 'minimize'): Belief {
  const { memberCount, samples, width, members, aleatoric } = predictions;
  if (width !== 1) {
    throw new Error(
      `A sample has ${width} targets, and a search needs one. Let the project predict only the target to search for.`,
    );
  }
  const sign = kind === 'maximize' ? 1 : -1;
  const values = Float64Array.from(members, (value) => sign * value);
  const { mean, deviation } = momentsOf(values, memberCount);
  const noise = aleatoric === null ? new Float64Array(samples) : aleatoric.map((own) => own * own);
  const uncertainty = deviation.map((own, i) => own * own + noise[i]);
  const information = deviation.map((own, i) => (own === 0 ? 0 : Math.log1p((own * own) / noise[i]) / 2));
  return { members: memberCount, candidates: samples, values, mean, deviation, noise, uncertainty, information };
}

/** Candidates that charts of a pool show at most, beside the chosen ones. */
export const sampleSize = 3000;

/**
 * The candidates of a pool that charts show: all, or a sample of them at random, ascending. The same search has the
 * same sample in all rounds.
 */
export function sampleOfPool(candidates: number, seed: number): Int32Array {
  const all = Int32Array.from({ length: candidates }, (_, i) => i);
  if (candidates <= sampleSize) return all;
  return new Generator(seed, 'discovery sample').permutation(candidates).slice(0, sampleSize).sort();
}

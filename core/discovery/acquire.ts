import type { Generator } from '../random/generator.ts';
import { chooseOptimum, chooseRandom, chooseThompson, chooseTop } from './choose.ts';
import { type PoolFeatures, rowOf, squaredDistance } from './distances.ts';
import { chooseClusters } from './k-means.ts';
import { type Belief, momentsOf } from './belief.ts';
import { type Acquisition, whyNoBatch } from './search.ts';
import { normalDensity, normalDistribution } from '../numeric/normal.ts';

/** What a choice depends on. The same question gives the same choice, on every machine. */
interface AcquisitionQuestion {
  belief: Belief;
  /** Candidates without a label: indices of the pool, ascending. */
  open: Int32Array;
  /** Candidates to choose. */
  count: number;
  /** The best label so far, larger is better; null where the search is for a class. */
  bestLabel: number | null;
  /** The features, which the batches `centres` and `clusters` need; null: not read. */
  features: PoolFeatures | null;
  /** The stream of this round. */
  generator: Generator;
}

/** Chosen candidates, in the order of the choice. */
interface Choice {
  indices: Int32Array;
  /** The score of each, NaN where the acquisition has none. */
  scores: Float64Array;
}

/**
 * Chooses the next batch.
 * @throws Error if fewer candidates than asked for can be chosen because predictions are NaN
 */
export function acquire(acquisition: Acquisition, question: AcquisitionQuestion): Choice {
  const { open, count } = question;
  const wanted = Math.min(count, open.length);
  const scores = scoresOf(acquisition, question.belief, question);
  const indices = chooseBatch(acquisition, scores, { ...question, count: wanted });
  if (indices.length < wanted) {
    throw new Error(
      `Of ${open.length} candidates without a label only ${indices.length} have predictions that are numbers, and ` +
        `${wanted} are to be chosen. The members predict NaN: train with a smaller learning rate, or check the ` +
        'features.',
    );
  }
  return { indices, scores: Float64Array.from(indices, (index) => scores?.[index] ?? NaN) };
}

/** The score of each candidate; null where an acquisition chooses without scores. */
function scoresOf(
  { kind, kappa, xi }: Acquisition,
  belief: Belief,
  { open, bestLabel }: Pick<AcquisitionQuestion, 'open' | 'bestLabel'>,
): Float64Array | null {
  switch (kind) {
    case 'ucb':
      return upperConfidenceBound(belief, kappa);
    case 'ei':
      return expectedImprovement(belief, bestLabel ?? largestMean(belief, open), xi);
    case 'pi':
      return improvementProbability(belief, bestLabel ?? largestMean(belief, open), xi);
    case 'greedy':
      return belief.mean;
    case 'bald':
      return belief.information;
    case 'entropy':
      return belief.uncertainty;
    case 'thompson':
    case 'qpo':
    case 'random':
      return null;
  }
}

function chooseBatch(acquisition: Acquisition, scores: Float64Array | null, question: AcquisitionQuestion): Int32Array {
  const { kind, batch, shortlist } = acquisition;
  const { belief, open, count, generator } = question;
  const reason = whyNoBatch(acquisition);
  if (reason !== null) throw new Error(reason);
  if (kind === 'random') return chooseRandom(open, count, generator);
  if (kind === 'thompson') return chooseThompson(belief, open, count, generator);
  if (kind === 'qpo' || scores === null) return chooseOptimum(belief, open, count);
  if (batch === 'top') return chooseTop(scores, open, count);
  if (batch === 'fantasies') return fantasies(acquisition, question);
  const best = chooseTop(scores, open, count * shortlist);
  const features = requireFeatures(question.features);
  return batch === 'centres' ? chooseCentres(features, best, count) : chooseClusters(features, best, count, generator);
}

function fantasies(acquisition: Acquisition, question: AcquisitionQuestion): Int32Array {
  const { belief, open, count } = question;
  return chooseByFantasies(belief, open, count, (current, remaining) => {
    const scores = scoresOf(acquisition, current, { ...question, open: remaining });
    return scores === null ? -1 : (chooseTop(scores, remaining, 1).at(0) ?? -1);
  });
}

function requireFeatures(features: PoolFeatures | null): PoolFeatures {
  if (features !== null) return features;
  throw new Error(
    'The batches centres and clusters compare the features of candidates, which were not read. Choose the batch top.',
  );
}

/**
 * Chooses `count` of the shortlisted candidates that lie far apart: the first one is the first of the shortlist, each
 * next one is the farthest from all chosen ones (equal distances fall to the earlier place in the shortlist). Source:
 * Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985; for batches Sener and Savarese, "Active
 * learning for convolutional neural networks: a core-set approach", ICLR 2018, algorithm 1.
 * @param shortlist indices of the pool, best first
 */
export function chooseCentres(features: PoolFeatures, shortlist: Int32Array, count: number): Int32Array {
  const distances = new Float64Array(shortlist.length).fill(Infinity);
  const places: number[] = [];
  let next = 0;
  while (places.length < Math.min(count, shortlist.length)) {
    places.push(next);
    distances[next] = -1;
    const row = rowOf(features, shortlist[next]);
    for (let place = 0; place < shortlist.length; place++) {
      if (distances[place] >= 0)
        distances[place] = Math.min(distances[place], squaredDistance(features, shortlist[place], row));
    }
    next = distances.indexOf(distances.reduce((most, own) => Math.max(most, own)));
  }
  return Int32Array.from(places, (place) => shortlist[place]);
}

/**
 * Acquisition functions that score each candidate on its own, shape `[N]`; larger is better. NaN where a prediction is
 * NaN.
 */

type Moments = Pick<Belief, 'mean' | 'deviation'>;

/**
 * The upper confidence bound μ + κσ. Source: Auer, "Using confidence bounds for exploitation-exploration trade-offs",
 * JMLR 2002.
 */
export function upperConfidenceBound({ mean, deviation }: Moments, kappa: number): Float64Array {
  return mean.map((own, i) => own + kappa * deviation[i]);
}

/**
 * The expected improvement over the best value so far, E[max(0, f − best − ξ)] = σ (z Φ(z) + φ(z)) with z = (μ − best −
 * ξ)/σ; without deviation max(0, μ − best − ξ). Source: Jones, Schonlau and Welch, "Efficient global optimization of
 * expensive black-box functions", 1998, equation 15.
 */
export function expectedImprovement({ mean, deviation }: Moments, best: number, xi: number): Float64Array {
  return mean.map((own, i) => {
    const gain = own - best - xi;
    if (deviation[i] === 0) return gain < 0 ? 0 : gain;
    const z = gain / deviation[i];
    return deviation[i] * (z * normalDistribution(z) + normalDensity(z));
  });
}

/**
 * The probability of an improvement over the best value so far, Φ((μ − best − ξ)/σ); without deviation 0 or 1. Source:
 * Kushner, "A new method of locating the maximum point of an arbitrary multipeak curve in the presence of noise", 1964.
 */
export function improvementProbability({ mean, deviation }: Moments, best: number, xi: number): Float64Array {
  return mean.map((own, i) => {
    const gain = own - best - xi;
    if (Number.isNaN(gain)) return NaN;
    return deviation[i] === 0 ? Number(gain > 0) : normalDistribution(gain / deviation[i]);
  });
}

/**
 * What a class must exceed: the labels are 0 or 1, so the best one says nothing, and the largest mean of the open
 * candidates takes its place. -Infinity where no mean is a number.
 */
export function largestMean({ mean }: Moments, open: Int32Array): number {
  return open.reduce((best, index) => (mean[index] > best ? mean[index] : best), -Infinity);
}

/**
 * Chooses a batch one by one: after each choice the belief becomes what it would be if the candidate had its expected
 * value ("kriging believer"), so that the next choices avoid what the first ones would tell. The members are samples of
 * a Gaussian with covariances C = 1/M Σ_m a_m a_mᵀ, a_m = f_m − μ. Observing candidate i with the noise r leaves the
 * mean as it is and gives
 *
 *     C' = C − c_i c_iᵀ / (C_ii + r),      a'_m = a_m − α k a_m(i),   k = c_i/(C_ii + r),   α = 1/(1 + √(r/(C_ii + r))).
 *
 * Sources: Ginsbourger, Le Riche and Carraro, "Kriging is well-suited to parallelize optimization", 2010; the square
 * root of the ensemble Kalman filter: Whitaker and Hamill, "Ensemble data assimilation without perturbed observations",
 * 2002, equations 10 and 13.
 *
 * @param choose the best open candidate of a belief; -1: there is none
 * @param open indices of the pool, ascending
 */
function chooseByFantasies(
  belief: Belief,
  open: Int32Array,
  count: number,
  choose: (belief: Belief, open: Int32Array) => number,
): Int32Array {
  const chosen: number[] = [];
  let current = belief;
  let remaining = open;
  while (chosen.length < count) {
    const next = choose(current, remaining);
    if (next < 0) break;
    chosen.push(next);
    remaining = remaining.filter((index) => index !== next);
    current = afterObserving(current, next);
  }
  return Int32Array.from(chosen);
}

/**
 * The belief after candidate `observed` had its expected value. Uncertainty and information stay those of the
 * predictions.
 */
export function afterObserving(belief: Belief, observed: number): Belief {
  const { members, candidates, values, mean, deviation, noise } = belief;
  const variance = deviation[observed] ** 2;
  const total = variance + noise[observed];
  if (!(total > 0)) return belief;
  const shrink = 1 / (1 + Math.sqrt(noise[observed] / total));
  const own = Float64Array.from({ length: members }, (_, m) => values[m * candidates + observed] - mean[observed]);
  const gain = new Float64Array(candidates);
  for (let i = 0; i < values.length; i++) {
    const candidate = i % candidates;
    gain[candidate] += ((values[i] - mean[candidate]) * own[Math.floor(i / candidates)]) / (members * total);
  }
  const updated = values.map((value, i) => value - shrink * gain[i % candidates] * own[Math.floor(i / candidates)]);
  return { ...belief, values: updated, ...momentsOf(updated, members), mean };
}

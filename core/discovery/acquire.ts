import type { Generator } from '../random/generator.ts';
import { chooseOptimum, chooseRandom, chooseThompson, chooseTop } from './acquisition/choose.ts';
import {
  expectedImprovement,
  improvementProbability,
  largestMean,
  upperConfidenceBound,
} from './acquisition/scores.ts';
import type { PoolFeatures } from './batches/distances.ts';
import { chooseByFantasies } from './batches/fantasies.ts';
import { chooseCentres } from './batches/k-centre.ts';
import { chooseClusters } from './batches/k-means.ts';
import type { Belief } from './belief.ts';
import { type Acquisition, whyNoBatch } from './settings.ts';

/** What a choice depends on. The same question gives the same choice, on every machine. */
export interface AcquisitionQuestion {
  belief: Belief;
  /** Candidates without a label: indices of the pool, ascending. */
  open: Int32Array;
  /** Candidates to choose. */
  count: number;
  /** The best label so far, larger is better; null where the search is for a class. */
  bestLabel: number | null;
  /** For the batches `centres` and `clusters`; null: not read. */
  features: PoolFeatures | null;
  /** The stream of this round. */
  generator: Generator;
}

/** Chosen candidates, in the order of the choice. */
export interface Choice {
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
      `Of ${open.length} candidates without a label only ${indices.length} have predictions that are numbers, and ${wanted} are to be chosen. ` +
        'The members predict NaN: train with a smaller learning rate, or check the features.',
    );
  }
  return { indices, scores: Float64Array.from(indices, (index) => scores?.[index] ?? NaN) };
}

/** The score of each candidate; null where an acquisition chooses without scores. */
export function scoresOf(
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

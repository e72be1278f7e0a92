import { memberLogLikelihoods } from '../../core/metrics/index.ts';
import { labelEvaluation } from '../../core/metrics/registry/label-metrics.ts';
import { mixtureNll } from '../../core/metrics/likelihood.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import { pinballLoss, poissonLogProbabilities } from '../../core/metrics/scores/value-scores.ts';
import type { HeldOut, ValueSamples } from '../../core/postprocessing/held-out.ts';
import { selectByMean, selectGreedily, smallestByLoss, smallestSubset } from '../../core/postprocessing/selection.ts';
import type { PartCriterion } from '../../core/protocol/run/parts.ts';
import type { Dataset } from '../data/dataset.ts';
import { joinStacks, type Predictions } from '../member/predictions.ts';
import { targetWeights } from '../member/tasks/checks.ts';
import { heldOutSamples } from '../postprocessing/held-out-samples.ts';

/** The choices of a greedy selection, and the loss after each. */
interface GreedyChoice {
  chosen: number[];
  losses: number[];
}

/** By what members are chosen on held-out samples; smaller is better. */
export interface Criterion {
  name: PartCriterion;
  /** What counts of a model's predictions: the logarithms of the targets' likelihoods, or quantiles. */
  rowOf: (predictions: Predictions) => Float64Array;
  /** The loss of the ensemble of some models, by their rows. */
  lossOf: (rows: readonly Float64Array[]) => number;
  greedily: (rows: readonly Float64Array[], rounds: number) => GreedyChoice;
  smallest: (rows: readonly Float64Array[], tolerance: number) => number[];
}

/**
 * The NLL of the mixture of models in nats, and for quantiles the pinball loss of their means.
 *
 * A class, a label or a count has its probability; a value the density of a Gaussian with the predicted variance. Where
 * none is predicted, all candidates have the same variance for each target: the mean squared error of the candidate
 * that has the least. Each label of a sample, and each of its values, counts alike; those of weight 0 or that a mask
 * excludes do not count.
 *
 * @param candidates their predictions for the data set
 * @param levels of the quantiles; other tasks ignore them
 */
export function criterionOf(
  candidates: readonly Predictions[],
  dataset: Dataset,
  task: TaskKind,
  levels: readonly number[],
): Criterion {
  if (task === 'quantile-regression') return byPinball(candidates[0], dataset, levels);
  return {
    name: 'nll',
    rowOf: logLikelihoodsOf(candidates, dataset, task),
    lossOf: (rows) => mixtureNll(rows),
    greedily: (rows, rounds) => {
      const { chosen, nlls } = selectGreedily(rows, rounds);
      return { chosen, losses: nlls };
    },
    smallest: smallestSubset,
  };
}

/** The members' quantiles are averaged, so the pinball loss is that of the mean, in the unit of the targets. */
function byPinball(any: Predictions, dataset: Dataset, levels: readonly number[]): Criterion {
  const samplesOf = (predictions: Predictions): ValueSamples => {
    const samples = heldOutOf(predictions, dataset, 'quantile-regression', levels);
    if (samples.kind === 'values') return samples;
    throw new Error('Quantiles are values.');
  };
  const targets = Float64Array.from(samplesOf(any).targets);
  const loss = (values: Float64Array): number => pinballLoss({ values, levels }, targets);
  const lossOf = (rows: readonly Float64Array[]): number =>
    loss(rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length));
  return {
    name: 'pinball',
    rowOf: (predictions) => Float64Array.from(samplesOf(predictions).means.values),
    lossOf,
    greedily: (rows, rounds) => selectByMean(rows, loss, rounds),
    smallest: (rows, tolerance) => smallestByLoss(rows, lossOf, tolerance),
  };
}

function heldOutOf(
  predictions: Predictions,
  dataset: Dataset,
  task: TaskKind,
  levels: readonly number[] | null = null,
): HeldOut {
  return heldOutSamples(joinStacks([{ ...predictions, ranks: [0] }]), dataset, task, levels);
}

/** Computes log p of a model's targets in nats, shape `[N]` or `[N · T]`. */
function logLikelihoodsOf(candidates: readonly Predictions[], dataset: Dataset, task: TaskKind): Criterion['rowOf'] {
  if (task === 'multi-label') return (predictions) => counted(labelLikelihoods(predictions, dataset), dataset);
  if (task === 'poisson-regression') {
    const counts = Float32Array.from(dataset.targets);
    return ({ values: [rates] }) => counted(poissonLogProbabilities(rates, counts), dataset);
  }
  const shared = sharedVariances(candidates.map((own) => heldOutOf(own, dataset, task)));
  return (predictions) => {
    const samples = heldOutOf(predictions, dataset, task);
    if (samples.kind === 'classes') return memberLogLikelihoods(samples.stack, samples.targets)[0];
    if (samples.kind === 'values') return gaussian(samples, shared);
    throw new Error('Labels have their own criterion.');
  };
}

function labelLikelihoods({ samples, width, values: [logits] }: Predictions, { targets }: Dataset): Float64Array {
  return labelEvaluation({ members: 1, samples, classes: width, logits }, targets, [0]).logLikelihoods[0];
}

/** The values whose target counts. */
function counted(values: Float64Array, dataset: Dataset): Float64Array {
  const weights = targetWeights(dataset);
  return weights === undefined ? values : values.filter((_, i) => weights[i] > 0);
}

function gaussian({ means, variances, columns, targets }: ValueSamples, shared: Float64Array): Float64Array {
  return Float64Array.from(means.values, (mean, i) => {
    const variance = variances === null ? shared[i % columns] : variances.values[i];
    return -0.5 * (Math.log(2 * Math.PI * variance) + (targets[i] - mean) ** 2 / variance);
  });
}

/** The mean squared errors of the candidate with the least sum of them, shape `[T]`; empty where none is needed. */
function sharedVariances(candidates: readonly HeldOut[]): Float64Array {
  const errors = candidates.flatMap((samples) =>
    samples.kind === 'values' && samples.variances === null ? [squaredErrors(samples)] : [],
  );
  const sums = errors.map((own) => own.reduce((sum, value) => sum + value, 0));
  const best = errors[sums.indexOf(Math.min(...sums))] ?? new Float64Array();
  // An exact fit would make every other candidate impossible.
  return best.map((value) => Math.max(value, Number.EPSILON));
}

function squaredErrors({ means, columns, targets }: ValueSamples): Float64Array {
  const errors = new Float64Array(columns);
  means.values.forEach((mean, i) => (errors[i % columns] += ((targets[i] - mean) ** 2 * columns) / targets.length));
  return errors;
}

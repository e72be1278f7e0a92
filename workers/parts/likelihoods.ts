import { memberLogLikelihoods } from '../../core/metrics/index.ts';
import type { TaskKind } from '../../core/metrics/registry/task-kinds.ts';
import type { HeldOut, ValueSamples } from '../../core/postprocessing/fit.ts';
import type { Dataset } from '../data/dataset.ts';
import { joinStacks, type Predictions } from '../member/predictions.ts';
import { canCalibrate, heldOutSamples } from '../postprocessing/held-out-samples.ts';

/** Computes the log-likelihoods of a model's targets from its predictions. */
export type Likelihoods = (predictions: Predictions) => Float64Array;

/** Whether members of a task give their targets a likelihood by which they can be chosen. */
export function hasLikelihood(task: TaskKind): boolean {
  return canCalibrate(task) && task !== 'quantile-regression';
}

/**
 * Log-likelihoods log p(y_n) of candidates' targets, in nats: C arrays of shape `[N]`, or `[N · T]` of T values a sample.
 *
 * A class has its probability; a value the density of a Gaussian with the predicted variance. Where none is predicted, all candidates have the
 * same variance for each target: the mean squared error of the candidate that has the least.
 */
export function likelihoodsOf(candidates: readonly Predictions[], dataset: Dataset, task: TaskKind): Likelihoods {
  const samplesOf = (predictions: Predictions): HeldOut =>
    heldOutSamples(joinStacks([{ ...predictions, ranks: [0] }]), dataset, task, null);
  const shared = sharedVariances(candidates.map(samplesOf));
  return (predictions) => {
    const samples = samplesOf(predictions);
    if (samples.kind === 'classes') return memberLogLikelihoods(samples.stack, samples.targets)[0];
    return gaussian(samples, shared);
  };
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

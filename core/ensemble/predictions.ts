import { z } from 'zod';
import { taskKinds } from '../metrics/registry/metric.ts';

/**
 * Predictions of an ensemble for N samples, from the outputs of its M members. Arrays are row-major. Entropies are in
 * nats.
 */

/** Outputs of the members, one array `[M, N, W]` for each output of a model. */
export interface MemberOutputStack {
  kind: 'logits' | 'label-logits' | 'probabilities' | 'values';
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** Positions of a sample, each of which counts as one of N; 1 by default. */
  positions?: number;
  /** W. */
  width: number;
  values: readonly Float32Array[];
  /** Distances to the training samples, shape `[N]`, where what was fitted needs them. */
  distances?: Float64Array;
  /** The same for further outputs of the models, by name. */
  further?: Readonly<Record<string, MemberOutputStack>>;
}

interface Predicted {
  /** Positions of a sample, such as the steps of a sequence, each of which counts as one of N; else 1. */
  positions: number;
  /** M. */
  memberCount: number;
  /** N. */
  samples: number;
  /** Classes, labels, targets or quantiles of a sample: K. */
  width: number;
  /**
   * What members predict: probabilities (with a temperature before averaging), means, rates or quantiles; shape
   * `[M, N, K]`. In float64 where values were brought back from a standardization.
   */
  members: Float32Array | Float64Array;
  /**
   * What the ensemble answers by its combination, shape `[N, K]`; probabilities are calibrated where a calibration was
   * fitted.
   */
  mean: Float64Array;
  /** What thresholds say that were fitted (`tutti calibrate`); null if none were. */
  judgement: Judgement | null;
  /** Predictions of further outputs of the models, by name, without calibration. */
  further: Readonly<Record<string, EnsemblePredictions>>;
}

/** Shape `[N]` each. */
export interface Judgement {
  /** How unlike the training data a sample is; null without a threshold for it. */
  outsideScores: Float64Array | null;
  /** 1 where a sample is outside the training data: its score is above the threshold. */
  isOutside: Uint8Array | null;
  /** 1 where the confidence is too low for the wished risk. */
  isWithheld: Uint8Array | null;
}

/** Ends of conformal intervals. */
export interface Intervals {
  lower: Float64Array;
  upper: Float64Array;
}

/** One of K classes (tasks classification, binary, ordinal). */
export interface ClassPredictions extends Predicted {
  kind: 'classes';
  /** The most probable class, shape `[N]`. */
  labels: Int32Array;
  /** Total uncertainty, the entropy of the ensemble's probabilities (`mean`), shape `[N]`. */
  entropy: Float64Array;
  /**
   * How much the members differ: the entropy of the mean of their probabilities minus the mean of their entropies,
   * shape `[N]`. Of members that answer by the mean it is the epistemic part of the entropy.
   */
  mutualInformation: Float64Array;
  /** Conformal sets: 1 where a class is in a sample's set, shape `[N, K]`; null if none were fitted. */
  sets: Uint8Array | null;
}

/** Any of K labels, each with its probability (task multi-label). */
export interface LabelPredictions extends Predicted {
  kind: 'labels';
  /** The same for each label, shape `[N, K]`. */
  entropy: Float64Array;
  mutualInformation: Float64Array;
  /** Conformal sets: 1 where a sample may have a label, shape `[N, K]`; null if none were fitted. */
  sets: Uint8Array | null;
}

/** K numbers, in the unit of the targets (tasks regression, heteroscedastic-regression, poisson-regression). */
export interface ValuePredictions extends Predicted {
  kind: 'values';
  /**
   * The members' variances, times the square of the scale s that was fitted for each of K (else 1), shape `[M, N, K]`;
   * null where they predict none.
   */
  memberVariances: Float32Array | Float64Array | null;
  /**
   * Standard deviation of the data, s √(1/M Σ_m σ²_m), shape `[N, K]`; null where members predict none. A count's
   * variance is the ensemble's rate.
   */
  aleatoric: Float64Array | null;
  /** Standard deviation of the members' means around their mean, s √(1/M Σ_m (μ_m − μ̄)²), shape `[N, K]`. */
  epistemic: Float64Array;
  /**
   * Standard deviation of the answer, shape `[N, K]`: of the mixture √(aleatoric² + epistemic²), of a product of counts
   * `aleatoric`.
   */
  standardDeviation: Float64Array;
  /** Shape `[N, K]`; null if none were fitted. */
  intervals: Intervals | null;
}

/** K quantiles of one number (task quantile-regression). The ensemble's are the means of the members'. */
export interface QuantilePredictions extends Predicted {
  kind: 'quantiles';
  /** Standard deviation of the members' quantiles, shape `[N, K]`. */
  epistemic: Float64Array;
  /** Shape `[N]`; null if none were fitted. */
  intervals: Intervals | null;
}

export type EnsemblePredictions = ClassPredictions | LabelPredictions | ValuePredictions | QuantilePredictions;

/** Names of outputs are parts of metrics' names, of tensors', and of exported code. */
export const outputNameSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be named with letters, digits, "_" and "-"');

/** A further output of a run's models, after those of its task: what predictions need to know of it. */
export const furtherOutputSchema = z.strictObject({
  name: outputNameSchema,
  task: z.enum(taskKinds),
  /** The names, in the order of the classes; null where the project gives none. */
  classNames: z.array(z.string()).nullable(),
  /** Levels of the task `quantile-regression`; null for other tasks. */
  quantiles: z.array(z.number()).nullable(),
});
export type FurtherOutput = z.output<typeof furtherOutputSchema>;

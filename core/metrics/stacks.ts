/**
 * Predictions of an ensemble, as typed arrays. Legend: `M` members, `N` samples, `K` classes.
 *
 * All metrics accumulate in float64. Permuting the members permutes the per-member results and changes the others only
 * by rounding. A metric of predictions that are not all finite is NaN, never a plausible number.
 */

/** Class probabilities of all members. */
export interface StackedProbabilities {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[M, N, K]`, row-major. */
  values: Float32Array;
}

/**
 * Logits of all members. They hold more information than probabilities, which float32 rounds to 0 and 1: metrics
 * compute their softmax in float64.
 */
export interface StackedLogits {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[M, N, K]`, row-major. */
  logits: Float32Array;
}

/** Predictions of classifiers, as probabilities or as logits. */
export type StackedClasses = StackedProbabilities | StackedLogits;

/** Class probabilities of one model, or of the ensemble as one model. */
export interface Probabilities {
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[N, K]`, row-major. */
  values: Values;
  /** Logarithms of `values`, where known more precisely: a probability may be too small for its type. */
  logValues?: Float64Array;
}

/** One number per member and sample: a predicted mean, a variance, or p(y = 1). */
export interface StackedValues {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** Shape `[M, N]`, row-major. */
  values: Float32Array;
}

/** Numbers of one model, or of the ensemble as one model; shape `[N]` unless stated otherwise. */
export type Values = Float32Array | Float64Array;

/** Gathered or saved predictions of a classifier's members. */
export interface PredictedClasses {
  kind: 'logits' | 'probabilities';
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** W, outputs per sample: K, or 1 for a binary task. */
  width: number;
  /** Shape `[M, N, W]`, row-major. */
  values: Float32Array;
}

import type { StackedClasses } from '../../metrics/stacks.ts';
import { totalWeight, type Weights } from '../../metrics/weights.ts';
import { type Evaluation, minimize, PRECISE } from '../../numeric/minimize.ts';
import type { Calibration } from '../schema.ts';
import { logMixture, logSoftmax } from './mixture.ts';

type Vector = Extract<Calibration, { method: 'vector' }>;
type Dirichlet = Extract<Calibration, { method: 'dirichlet' }>;

/** Shares of the classes that a fit should predict, shape `[N, K]`, and weights of the samples, shape `[N]`. */
interface Labels {
  targets: Float64Array;
  weights?: Weights;
}

/**
 * Vector scaling of the ensemble's log-probabilities, softmax(s_k log p̄_k + b_k), with the least NLL plus 1e-6 |b|²,
 * which makes the bias unique. The NLL is convex, so the start at s = 1, b = 0 does not matter.
 *
 * Source: Guo, Pleiss, Sun and Weinberger (2017), section 4.2.
 *
 * @param labels shares of the classes, and weights by which the NLL is weighted
 */
export function fitVector(stack: StackedClasses, labels: Labels): Vector {
  const { classes } = stack;
  const inputs = logMixture(stack);
  const start = new Float64Array(2 * classes).fill(1, 0, classes);
  const { place: found } = minimize((at) => vectorSlope(inputs, labels, classes, at), start, PRECISE);
  return { method: 'vector', scale: [...found.subarray(0, classes)], bias: [...found.subarray(classes)] };
}

/**
 * Dirichlet calibration of the ensemble's probabilities, softmax(W log p̄ + b), with the least NLL + λ / (K (K − 1))
 * sum_{i≠j} W_ij² + λ / K |b|² (off-diagonal and intercept regularisation). Starts at W = 1, b = 0.
 *
 * Source: Kull et al., "Beyond temperature scaling: obtaining well-calibrated multiclass probabilities with Dirichlet
 * calibration", NeurIPS 2019, with one λ for both parts.
 *
 * @param regularization λ
 */
export function fitDirichlet(stack: StackedClasses, labels: Labels, regularization: number): Dirichlet {
  const { classes } = stack;
  const inputs = logMixture(stack);
  const start = new Float64Array(classes * classes + classes);
  for (let label = 0; label < classes; label++) start[label * classes + label] = 1;
  const { place: found } = minimize(
    (at) => dirichletSlope(inputs, labels, classes, regularization, at),
    start,
    PRECISE,
  );
  const rows = Array.from({ length: classes }, (_, label) => [
    ...found.subarray(label * classes, (label + 1) * classes),
  ]);
  return { method: 'dirichlet', weights: rows, bias: [...found.subarray(classes * classes)] };
}

function vectorSlope(inputs: Float64Array, labels: Labels, classes: number, at: Float64Array): Evaluation {
  const mapped = inputs.map((value, index) => at[index % classes] * value + at[classes + (index % classes)]);
  const { value, residuals } = crossEntropy(mapped, classes, labels);
  const gradient = new Float64Array(at.length);
  residuals.forEach((residual, index) => {
    gradient[index % classes] += residual * inputs[index];
    gradient[classes + (index % classes)] += residual;
  });
  let penalty = 0;
  for (let index = classes; index < at.length; index++) {
    penalty += 1e-6 * at[index] ** 2;
    gradient[index] += 2e-6 * at[index];
  }
  return { value: value + penalty, gradient };
}

function dirichletSlope(
  inputs: Float64Array,
  labels: Labels,
  classes: number,
  regularization: number,
  at: Float64Array,
): Evaluation {
  const size = classes * classes;
  const mapped = new Float64Array(inputs.length);
  for (let index = 0; index < mapped.length; index++) {
    const to = index % classes;
    let sum = at[size + to];
    for (let from = 0; from < classes; from++) sum += at[to * classes + from] * inputs[index - to + from];
    mapped[index] = sum;
  }
  const { value, residuals } = crossEntropy(mapped, classes, labels);
  const gradient = new Float64Array(at.length);
  for (let index = 0; index < residuals.length; index++) {
    const to = index % classes;
    gradient[size + to] += residuals[index];
    for (let from = 0; from < classes; from++)
      gradient[to * classes + from] += residuals[index] * inputs[index - to + from];
  }
  return { value: value + regularize(at, gradient, classes, regularization), gradient };
}

/** The penalty; adds its derivatives to the gradient. */
function regularize(at: Float64Array, gradient: Float64Array, classes: number, regularization: number): number {
  const size = classes * classes;
  let penalty = 0;
  for (let index = 0; index < at.length; index++) {
    const isDiagonal = index < size && index % (classes + 1) === 0;
    if (isDiagonal) continue;
    const weight = regularization / (index < size ? classes * (classes - 1) : classes);
    penalty += weight * at[index] ** 2;
    gradient[index] += 2 * weight * at[index];
  }
  return penalty;
}

/** Weighted mean cross-entropy of logits, `[N, K]`, and its derivatives by them, w (p − t) / Σ w. */
function crossEntropy(logits: Float64Array, classes: number, { targets, weights }: Labels) {
  const samples = targets.length / classes;
  const total = totalWeight(samples, weights);
  const logarithms = logSoftmax(logits, classes);
  let value = 0;
  const residuals = logarithms.map((logarithm, index) => {
    const share = (weights?.[Math.floor(index / classes)] ?? 1) / total;
    if (targets[index] > 0) value -= share * targets[index] * logarithm;
    return share * (Math.exp(logarithm) - targets[index]);
  });
  return { value, residuals };
}

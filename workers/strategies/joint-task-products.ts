import { isJointTask, type JointTask, jointTasks } from '../../core/metrics/combination.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import type { Batch } from '../data/dataset.ts';
import { hard, type Softening } from '../member/sample-losses.ts';
import { productLoss, type ProductLoss } from './joint-product.ts';

/** The loss of the product of M members' predictions. @param sum Σ_m of their outputs */
type ProductOfTask = (
  sum: Float32Array,
  targets: ArrayLike<number>,
  members: number,
  softening: Softening,
) => ProductLoss;

/** The tasks whose product of experts is a prediction of the same kind, with the mean of the members' outputs. */
const products: Record<JointTask, ProductOfTask> = {
  classification: productLoss,
  binary: statesProduct,
  'multi-label': statesProduct,
  'poisson-regression': countsProduct,
  regression: valuesProduct,
};

/**
 * The loss of a task's product of experts.
 * @throws Error for a task whose product is not given by the mean of the members' outputs
 */
export function productOfTask(kind: TaskKind, softening: Softening = hard) {
  if (!isJointTask(kind)) {
    throw new Error(`The strategy joint cannot train the task ${kind}: it trains ${jointTasks.join(', ')}.`);
  }
  const product = products[kind];
  return (sum: Float32Array, batch: Pick<Batch, 'targets' | 'mixed'>, members: number): ProductLoss => {
    const own = product(sum, batch.targets, members, softening);
    if (batch.mixed === undefined) return own;
    // λ·loss + (1 − λ)·loss of the targets of the samples that were mixed in.
    const { share, partner } = batch.mixed;
    const others = product(sum, partner.targets, members, softening);
    return {
      loss: share * own.loss + (1 - share) * others.loss,
      gradient: own.gradient.map((value, i) => share * value + (1 - share) * others.gradient[i]),
    };
  };
}

/**
 * Binary decisions: the normalised geometric mean of Bernoulli distributions with logits z_m is the one with logit z̄.
 * The loss is the mean of −p log q − (1 − p) log(1 − q) with q = σ(z̄ / T), its gradient (q − p) / (M·T·size); p = y (1
 * − ε) + ε/2.
 * @param states 0 or 1, of the sum's size
 */
function statesProduct(
  sum: Float32Array,
  states: ArrayLike<number>,
  members: number,
  { labelSmoothing, temperature }: Softening,
): ProductLoss {
  const divisor = members * temperature;
  return meanOf(sum, divisor, (logit, i) => {
    const target = states[i] * (1 - labelSmoothing) + labelSmoothing / 2;
    // log(1 + exp(z)) − p z, without overflow.
    const loss = Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))) - target * logit;
    return [loss, 1 / (1 + Math.exp(-logit)) - target];
  });
}

/**
 * Counts: the normalised geometric mean of Poisson distributions is the one with the geometric mean of their rates,
 * exp(z̄) for log-rates z_m. The loss is the mean of exp(z̄) − y z̄, its gradient (exp(z̄) − y) / (M·size).
 */
function countsProduct(sum: Float32Array, counts: ArrayLike<number>, members: number): ProductLoss {
  return meanOf(sum, members, (logRate, i) => {
    const rate = Math.exp(logRate);
    return [rate - counts[i] * logRate, rate - counts[i]];
  });
}

/**
 * Values: the normalised geometric mean of Gaussians of equal variance is the one with the mean of their means z_m. The
 * loss is the mean of (z̄ − y)², its gradient 2 (z̄ − y) / (M·size).
 */
function valuesProduct(sum: Float32Array, values: ArrayLike<number>, members: number): ProductLoss {
  return meanOf(sum, members, (mean, i) => [(mean - values[i]) ** 2, 2 * (mean - values[i])]);
}

/** The mean of losses of single outputs. @param lossOf returns loss and slope at an element of sum / divisor */
function meanOf(
  sum: Float32Array,
  divisor: number,
  lossOf: (value: number, index: number) => [loss: number, slope: number],
): ProductLoss {
  const gradient = new Float32Array(sum.length);
  let loss = 0;
  for (let i = 0; i < sum.length; i++) {
    const [own, slope] = lossOf(sum[i] / divisor, i);
    loss += own;
    gradient[i] = slope / (divisor * sum.length);
  }
  return { loss: loss / sum.length, gradient };
}

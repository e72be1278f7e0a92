import { geometricMeanOverMembers, meanOverMembers, meanProbabilities, productOfExperts } from './predictions.ts';
import type { Probabilities, StackedClasses, StackedLogits, StackedValues } from './stacks.ts';
import { type TaskKind, taskKinds } from './registry/metric.ts';

/**
 * How members predict together. Every way out (Node, terminal, server, browser, ONNX, PyTorch), every metric, every fit
 * and every score asks here.
 *
 * `mean`: the mean of what members predict: of probabilities, means and variances, rates or quantiles; the mixture of
 * their distributions. `product`: the product of experts, the normalized geometric mean of their distributions (Hinton,
 * 2002).
 */
export const combinations = ['mean', 'product'] as const;
export type Combination = (typeof combinations)[number];

/**
 * What answers for members that were trained jointly, as one product of experts; null for tasks that cannot be trained
 * so. `z̄` is the mean of the members' outputs.
 */
const jointAnswers = {
  // softmax(z̄)
  classification: 'product',
  // σ(z̄)
  binary: 'product',
  // σ(z̄) of each label
  'multi-label': 'product',
  // A Poisson distribution with the rate exp(z̄), which is also its variance.
  'poisson-regression': 'product',
  // The product of Gaussians of equal variance has the mean of their means.
  regression: 'mean',
  // The product of the distributions of the classes is not that of z̄.
  ordinal: null,
  // The product of Gaussians of different variances weights means by precisions, which z̄ does not.
  'heteroscedastic-regression': null,
  // Quantiles alone give no distribution.
  'quantile-regression': null,
} as const satisfies Record<TaskKind, Combination | null>;

/** A task that members can learn jointly. */
export type JointTask = { [K in TaskKind]: (typeof jointAnswers)[K] extends null ? never : K }[TaskKind];

export const jointTasks: readonly JointTask[] = taskKinds.filter((task) => isJointTask(task));

export function isJointTask(task: string): task is JointTask {
  return Object.hasOwn(jointAnswers, task) && jointAnswers[task as TaskKind] !== null;
}

/** How members answer that were trained as a product of experts; the mean for tasks without one. */
export function answerOfProduct(task: string): Combination {
  return isJointTask(task) ? jointAnswers[task] : 'mean';
}

/**
 * How a described ensemble answers.
 * @throws Error for a task without a product
 */
export function answersBy({ task, combination }: { task: TaskKind; combination: Combination }): Combination {
  if (combination === 'mean') return 'mean';
  if (isJointTask(task)) return jointAnswers[task];
  throw new Error(
    `The ensemble is described as a product of members of the task ${task}, which has none: only ` +
      `${jointTasks.join(', ')} have. Set combination to "mean".`,
  );
}

/** Whose metrics judge the answer: `val/product_nll` that of a product, `val/ens_nll` that of the mean. */
export const answerSubject = { mean: 'ens', product: 'product' } as const satisfies Record<Combination, string>;

/** What the ensemble answers for classes, shape `[N, K]`. */
export function answeredProbabilities(stack: StackedClasses, combination: Combination): Probabilities {
  return combination === 'product' ? productOfExperts(stack) : meanProbabilities(stack);
}

/**
 * What the ensemble answers for values, or for counts by their rates, shape `[M, N]` to `[N]`.
 * @param without a member to leave out
 */
export function answeredValues(
  stack: StackedValues,
  combination: Combination,
  without: number | null = null,
): Float64Array {
  return combination === 'product' ? geometricMeanOverMembers(stack, without) : meanOverMembers(stack, without);
}

/**
 * What answers for classes: the members, whose mean is the answer, or the product of their experts as the only member.
 * Shape `[M, N, K]`.
 */
export function answeringClasses(stack: StackedClasses, combination: Combination): StackedClasses {
  if (combination === 'mean' || stack.members === 1) return stack;
  const { samples, classes, values, logValues = values.map(Math.log) } = productOfExperts(stack);
  return { members: 1, samples, classes, logits: Float32Array.from(logValues) };
}

/** The same for labels, each with a logit. Shape `[M, N, L]`. */
export function answeringLabels(stack: StackedLogits, combination: Combination): StackedLogits {
  if (combination === 'mean' || stack.members === 1) return stack;
  return { ...stack, members: 1, logits: Float32Array.from(meanLogits(stack)) };
}

/** The same for rates of counts, whose variance is the rate. Shape `[M, N]`. */
export function answeringRates(rates: StackedValues, combination: Combination): StackedValues {
  if (combination === 'mean' || rates.members === 1) return rates;
  return { ...rates, members: 1, values: Float32Array.from(geometricMeanOverMembers(rates)) };
}

/** The mean of the members' logits of labels: that of their product of experts. Shape `[N, L]`. */
export function meanLogits({ members, samples, classes, logits }: StackedLogits): Float64Array {
  return meanOverMembers({ members, samples: samples * classes, values: logits });
}

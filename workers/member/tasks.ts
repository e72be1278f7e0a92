import type { Dataset } from '../data/dataset.ts';
import {
  classificationMetrics,
  type MetricOptions,
  regressionMetrics,
  stackedClasses,
  type StackedClasses,
} from '../../core/metrics/index.ts';
import { type TaskKind, taskKinds, usualQuantiles } from '../../core/metrics/registry/metric.ts';
import { tf, type Scalar, type Tensor } from '../tensorflow/tf.ts';
import { requireLogits, requirePositiveVariance } from './output-activation.ts';
import type { MemberOutputs } from './predictions.ts';
import {
  classCount,
  requireLabels,
  requireOutputs,
  requireValues,
  targetColumns,
  targetWeights,
} from './tasks/checks.ts';
import { poissonRegression } from './tasks/count-task.ts';
import { multiLabel } from './tasks/label-task.ts';
import { ordinal } from './tasks/ordinal-task.ts';
import { quantileTask } from './tasks/quantile-task.ts';
import { type OutputSpec, withFurtherOutputs } from './tasks/further-outputs.ts';
import { atPositions, positionsOf } from './tasks/positions.ts';
import type { MetricsOf, Task } from './tasks/task.ts';
import { gaussianLosses, hard, labelLosses, type Softening, stateLosses } from './sample-losses.ts';

export type { MetricsOf, Task };

const classification: Task = {
  kind: 'classification',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: classCount,
  check(model, dataset) {
    const classes = classCount(dataset);
    const expected = `one output of ${classes} logits (${classes} classes in ${dataset.name})`;
    requireOutputs(model, [classes], expected, positionsOf('classification', dataset));
    requireLogits(model, 'softmax');
    requireLabels(dataset, classes);
  },
  loss: ([logits], labels, softening) => softenedCrossEntropy(logits, labels, softening ?? hard),
  losses: ([logits], labels, softening) => labelLosses(logits, labels, softening),
  predicts: 'logits',
  metrics: classificationMetricsOf,
};

const binary: Task = {
  kind: 'binary',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: () => 1,
  check(model, dataset) {
    requireOutputs(model, [1], 'one output of 1 logit', positionsOf('binary', dataset));
    requireLogits(model, 'sigmoid');
    requireLabels(dataset, 2);
  },
  loss: ([logits], labels, softening) => meanOfBatch(stateLosses(logits, labels, softening)),
  losses: ([logits], labels, softening) => stateLosses(logits, labels, softening),
  predicts: 'logits',
  metrics: classificationMetricsOf,
};

const regression: Task = {
  kind: 'regression',
  ensembleMonitor: 'val/ens_mse',
  memberMonitor: 'val/member_{rank}_mse',
  targetSize: targetColumns,
  check(model, dataset) {
    const columns = targetColumns(dataset);
    requireOutputs(model, [columns], `one output of ${columns} value(s)`, positionsOf('regression', dataset));
    requireValues(dataset);
  },
  loss: ([values], targets) => meanOfBatch(tf.squaredDifference(tf.reshape(targets, values.shape), values)),
  losses: ([values], targets) => tf.squaredDifference(tf.reshape(targets, values.shape), values),
  predicts: 'values',
  metrics: regressionMetricsOf,
};

const heteroscedasticRegression: Task = {
  kind: 'heteroscedastic-regression',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: targetColumns,
  check(model, dataset) {
    const columns = targetColumns(dataset);
    const expected = `two outputs of ${columns} value(s) each: the mean and the (positive) variance`;
    requireOutputs(model, [columns, columns], expected, positionsOf('heteroscedastic-regression', dataset));
    requirePositiveVariance(model);
    requireValues(dataset);
  },
  loss: ([mean, variance], targets) => gaussianNllLosses(mean, variance, targets),
  losses: ([mean, variance], targets) => gaussianLosses(mean, variance, targets),
  predicts: 'values',
  metrics: regressionMetricsOf,
};

/** The task of each kind, with its loss; `levels` are those of quantiles. */
const tasks: Record<TaskKind, (levels: readonly number[]) => Task> = {
  classification: () => classification,
  binary: () => binary,
  regression: () => regression,
  'heteroscedastic-regression': () => heteroscedasticRegression,
  'multi-label': () => multiLabel,
  ordinal: () => ordinal,
  'poisson-regression': () => poissonRegression,
  'quantile-regression': quantileTask,
};

/**
 * @param levels of the quantiles, for quantile regression
 * @throws when the project names an unknown task
 */
export function taskOf(kind: TaskKind, levels: readonly number[] = usualQuantiles): Task {
  if (!Object.hasOwn(tasks, kind)) {
    throw new Error(`Task "${kind}" does not exist: a project's task is one of ${taskKinds.join(', ')}.`);
  }
  return tasks[kind](levels);
}

/** What a project says about its task. */
interface TaskSpec {
  task: TaskKind;
  quantiles?: readonly number[];
  outputs?: Readonly<Record<string, OutputSpec>>;
}

/**
 * A project's task for its data: at each position of a sample where the targets have several, and with the further
 * outputs.
 */
export function taskFor({ task: kind, quantiles, outputs }: TaskSpec, dataset: Dataset): Task {
  const task = atPositions(taskOf(kind, quantiles), positionsOf(kind, dataset));
  return outputs === undefined ? task : withFurtherOutputs(task, outputs, dataset, taskFor);
}

/**
 * Mean cross-entropy of logits z/T against labels int32 `[B]`, with a share ε of each label spread over all K classes:
 * (1 − ε)·(−log p[label]) + ε·mean_k(−log p[k]) (Szegedy et al., 2016, "Rethinking the inception architecture", section
 * 7).
 */
function softenedCrossEntropy(logits: Tensor, labels: Tensor, { labelSmoothing, temperature }: Softening): Tensor {
  const scaled = temperature === 1 ? logits : tf.div(logits, temperature);
  const loss = crossEntropyLosses(scaled, labels);
  if (labelSmoothing === 0) return loss;
  const spread = tf.neg(tf.mean(tf.logSoftmax(scaled), [-2, -1]));
  return tf.add(tf.mul(loss, 1 - labelSmoothing), tf.mul(spread, labelSmoothing));
}

/** Mean cross-entropy of logits `[B, K]` against labels int32 `[B]`: mean of logsumexp(z) − z[label]. */
export function crossEntropyLoss(logits: Tensor, labels: Tensor): Scalar {
  return crossEntropyLosses(logits, labels) as Scalar;
}

/** The same for stacked members: logits `[..., B, K]`, labels `[..., B]`, the result `[...]`. */
function crossEntropyLosses(logits: Tensor, labels: Tensor): Tensor {
  const classes = logits.shape[logits.rank - 1];
  if (canFuse('CrossEntropy') && labels.dtype === 'int32') {
    return tf.engine().runKernel('CrossEntropy', { logits, labels });
  }
  const chosen = tf.oneHot(labels, classes);
  return tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(logits), chosen), -1), -1));
}

/**
 * Mean over the batch of log σ² + (y − μ)²/σ²: twice the Gaussian NLL without its constant (Lakshminarayanan et al.,
 * 2017, eq. 1, and the published torch-distributed-ensemble example). Mean and variance `[B, 1]`, targets `[B]`.
 */
export function gaussianNllLoss(mean: Tensor, variance: Tensor, targets: Tensor): Scalar {
  return gaussianNllLosses(mean, variance, targets) as Scalar;
}

/**
 * The same for stacked members, and for several targets: shapes `[..., B, T]`, targets of that size, the result
 * `[...]`.
 */
function gaussianNllLosses(mean: Tensor, variance: Tensor, targets: Tensor): Tensor {
  const isSingle = mean.shape[mean.rank - 1] === 1;
  const fits = isSingle && mean.size === variance.size && mean.size === targets.size;
  if (canFuse('GaussianNll') && fits) return tf.engine().runKernel('GaussianNll', { mean, variance, targets });
  const error = tf.square(tf.sub(mean, tf.reshape(targets, mean.shape)));
  return tf.mean(tf.add(tf.log(variance), tf.div(error, variance)), [-2, -1]);
}

/** Mean over samples and targets: from `[..., B, T]` to `[...]`. */
function meanOfBatch(losses: Tensor): Tensor {
  const [samples, targets] = losses.shape.slice(-2);
  return tf.div(tf.sum(losses, [-2, -1]), samples * targets);
}

/** Whether the current backend computes a loss in one kernel. A kernel has no second derivatives, unlike ops. */
function canFuse(kernel: string): boolean {
  return tf.getKernel(kernel, tf.getBackend()) !== undefined && tf.engine().state.gradientDepth <= 1;
}

/** Metrics of gathered predictions of classifiers, `[M, N, K]`, or `[M, N, 1]` of a binary task. */
export function classificationMetricsOf(
  stack: MemberOutputs,
  dataset: Dataset,
  options?: MetricOptions,
): Map<string, number> {
  const weights = targetWeights(dataset);
  return classificationMetrics(classesOf(stack), dataset.targets as Int32Array, stack.ranks, { ...options, weights });
}

/** Classifiers' predictions in the form that metrics need. */
export function classesOf({ kind, ranks, samples, width, values }: MemberOutputs): StackedClasses {
  const form = kind === 'logits' ? 'logits' : 'probabilities';
  return stackedClasses({ kind: form, members: ranks.length, samples, width, values: values[0] });
}

/** Metrics of gathered means `[M, N, T]` and, if the task predicts them, variances of the same shape. */
export function regressionMetricsOf(
  stack: MemberOutputs,
  dataset: Dataset,
  options?: MetricOptions,
): Map<string, number> {
  const variances = stack.values.length > 1 ? stackOf(stack, 1) : null;
  const targets = dataset.targets as Float32Array;
  const own = { ...options, columns: stack.width, weights: targetWeights(dataset) };
  return regressionMetrics(stackOf(stack, 0), variances, targets, stack.ranks, own);
}

function stackOf(stack: MemberOutputs, output: number) {
  return { members: stack.ranks.length, samples: stack.samples * stack.width, values: stack.values[output] };
}

import { combineMembers } from '../../../core/ensemble/combine-members.ts';
import type { Combination } from '../../../core/metrics/combination.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { meanOverMembers, memberValues, type StackedValues, totalVariance } from '../../../core/metrics/index.ts';
import type { Direction } from '../../../core/metrics/registry/index.ts';
import type { OwnMetric, TaskKind } from '../../../core/metrics/registry/metric.ts';
import type { Dataset } from '../../data/dataset.ts';
import { copyForProject, type MemberOutputs, type Predictions } from '../predictions.ts';
import type { MetricsOf } from './task.ts';
import { tf } from '../../tensorflow/tf.ts';

/** What a project's metric receives. */
export interface MetricContext {
  /**
   * The prediction to judge, of the ensemble or of one member: one array `[N, W]` per output; class probabilities, or
   * values. The ensemble's is the mean of its members', whose variance is the aleatoric plus the epistemic one, or the
   * product of those that were trained jointly.
   */
  prediction: Predictions;
  /** All members' predictions, `[M, N, W]` per output. */
  members: MemberOutputs;
  /** The split's targets: labels `[N]`, or values `[N]` or `[N, T]`. */
  targets: Dataset['targets'];
  /** The split. */
  dataset: Dataset;
}

/** A project's own metric: a pure function of predictions and targets. */
export interface ProjectMetric {
  /** Whether smaller (`min`) or larger (`max`) values are better; `none` if neither is. */
  direction: Direction;
  /** A sentence for the pages. */
  help?: string;
  /**
   * `prediction` (default): judges the ensemble, as `val/ens_<name>`, and each member, as `val/member_<rank>_<name>`;
   * of jointly trained members also their product, as `val/product_<name>`. `ensemble`: one value of what answers,
   * `val/<name>`.
   */
  of?: 'prediction' | 'ensemble';
  /** Computes the value. All ranks call it with the same predictions, so it must not depend on anything else. */
  compute(context: MetricContext): number;
}

/** The own metrics of a project in its description. */
export function describeMetrics(metrics: Readonly<Record<string, ProjectMetric>> = {}): OwnMetric[] {
  return Object.entries(metrics).map(([name, { direction, of = 'prediction', help = '' }]) => ({
    name,
    direction,
    of,
    help,
  }));
}

/** A task's metrics, followed by the project's own. @param answering how the members answer */
export function withOwnMetrics(
  metricsOf: MetricsOf,
  metrics: Readonly<Record<string, ProjectMetric>>,
  answering: { task: TaskKind; combination: Combination },
): MetricsOf {
  const own = Object.entries(metrics);
  if (own.length === 0) return metricsOf;
  return (stack, dataset, options) => {
    const values = new Map(metricsOf(stack, dataset, options));
    const members = copyForProject(stack);
    const context = { members, targets: dataset.targets.slice(), dataset };
    const product =
      answering.combination === 'product' ? [['product', productOf(stack, members, answering.task)] as const] : [];
    const mean = ['ens', ensembleOf(members)] as const;
    const judged = [
      mean,
      ...members.ranks.map((rank, i) => [`member_${rank}`, memberOf(members, i)] as const),
      ...product,
    ];
    const answer = product.at(0) ?? mean;
    for (const [name, metric] of own) {
      for (const [subject, prediction] of metric.of === 'ensemble' ? [answer] : judged) {
        const recorded = metric.of === 'ensemble' ? name : `${subject}_${name}`;
        values.set(recorded, valueOf(name, metric, { ...context, prediction }));
      }
    }
    return values;
  };
}

/** @throws Error that names the metric if it throws or returns no number */
function valueOf(name: string, metric: ProjectMetric, context: MetricContext): number {
  let value: unknown;
  try {
    tf.tidy(() => {
      value = metric.compute(context);
    });
  } catch (error) {
    throw new Error(`The project's metric "${name}" failed: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value === 'number') return value;
  throw new Error(
    `The project's metric "${name}" returned ${typeof value}: compute must return a number, without async.`,
  );
}

function memberOf({ kind, samples, width, ranks, values }: MemberOutputs, member: number): Predictions {
  const stacks = stacksOf({ ranks, samples, width, values });
  return { kind, samples, width, values: stacks.map((stack) => memberValues(stack, member).slice()) };
}

function ensembleOf({ kind, samples, width, ranks, values }: MemberOutputs): Predictions {
  const stacks = stacksOf({ ranks, samples, width, values });
  const means = stacks.map((stack) => Float32Array.from(meanOverMembers(stack)));
  const hasVariance = kind === 'values' && stacks.length === 2;
  const outputs = hasVariance ? [means[0], Float32Array.from(totalVariance(stacks[0], stacks[1]))] : means;
  return { kind, samples, width, values: outputs };
}

/** What the product of experts predicts, in the form of the members' predictions. */
function productOf(stack: MemberOutputs, { kind, width }: MemberOutputs, task: TaskKind): Predictions {
  const { ranks, samples, values: outputs } = stack;
  const given = { kind: stack.kind, members: ranks.length, samples, width, values: outputs };
  const { mean, width: found } = combineMembers(given, { task, combination: 'product' });
  // A binary decision has one output, the probability of the second class.
  const values = Float32Array.from(found === width ? mean : mean.filter((_, i) => i % found === 1));
  return { kind, samples, width, values: [values] };
}

function stacksOf({ ranks, samples, width, values }: Omit<MemberOutputs, 'kind'>): StackedValues[] {
  return values.map((output) => ({ members: ranks.length, samples: samples * width, values: output }));
}

import { messageOf } from '../../../core/text/errors.ts';
import { meanOverMembers, memberValues, type StackedValues, totalVariance } from '../../../core/metrics/index.ts';
import type { Direction } from '../../../core/metrics/registry/index.ts';
import type { OwnMetric } from '../../../core/metrics/registry/own-metrics.ts';
import type { Dataset } from '../../data/dataset.ts';
import { copyForProject, type MemberOutputs, type Predictions } from '../predictions.ts';
import type { MetricsOf } from './task.ts';
import { tf } from '../../tensorflow/tf.ts';

/** What a project's metric receives. */
export interface MetricContext {
  /**
   * The prediction to judge, of the ensemble or of one member: one array `[N, W]` per output; class probabilities, or values. The ensemble's
   * is the mean of its members'; its variance is the aleatoric plus the epistemic one.
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
   * `prediction` (default): judges the ensemble, as `val/ens_<name>`, and each member, as `val/member_<rank>_<name>`. `ensemble`: one value,
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

/** A task's metrics, followed by the project's own. */
export function withOwnMetrics(metricsOf: MetricsOf, metrics: Readonly<Record<string, ProjectMetric>> = {}): MetricsOf {
  const own = Object.entries(metrics);
  if (own.length === 0) return metricsOf;
  return (stack, dataset, options) => {
    const values = new Map(metricsOf(stack, dataset, options));
    const members = copyForProject(stack);
    const context = { members, targets: dataset.targets.slice(), dataset };
    const judged = [
      ['ens', ensembleOf(members)] as const,
      ...members.ranks.map((rank, i) => [`member_${rank}`, memberOf(members, i)] as const),
    ];
    for (const [name, metric] of own) {
      for (const [subject, prediction] of metric.of === 'ensemble' ? judged.slice(0, 1) : judged) {
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

function stacksOf({ ranks, samples, width, values }: Omit<MemberOutputs, 'kind'>): StackedValues[] {
  return values.map((output) => ({ members: ranks.length, samples: samples * width, values: output }));
}

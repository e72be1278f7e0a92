import { checkRanks } from '../checks.ts';
import type { Weights } from '../weights.ts';

/** Sources that several metrics name. */
export const standard = 'Standard';
export const deepEnsembles = 'Lakshminarayanan et al., 2017, Simple and scalable predictive uncertainty estimation';

/** Whether a smaller or a larger value of a metric is better. */
export type Direction = 'min' | 'max' | 'none';

/** Metric values by name, in order of presentation. Names have no split; callers prefix `val/` or `test/`. */
export type Metrics = Map<string, number>;

/** What is known about a metric without computing it. */
export interface MetricInfo {
  /**
   * The quantity of a prediction's score, such as `nll` (recorded as `ens_nll` and `member_3_nll`), else the recorded
   * name, such as `disagreement`.
   */
  name: string;
  title: string;
  direction: Direction;
  /** The tasks that have it. */
  tasks: readonly TaskKind[];
  /**
   * Whether every evaluation computes it; the others are computed if the option `metrics.more` names them, or if they
   * are monitored.
   */
  isStandard: boolean;
  /** `prediction`: one value for the ensemble and one for each member; `ensemble`: one value. */
  of: 'prediction' | 'ensemble';
  meaning: string;
  /**
   * Legend: `M` members, `N` samples (values, in regression), `K` classes; `y` the target; `p_m` member m's
   * probabilities and `p̄` their mean; `μ_m` and `σ²_m` member m's mean and variance and `μ̄` the mean of the `μ_m`. A
   * sum without an index runs over the samples.
   */
  formula: string;
  /** The formula for one member, where replacing `p̄` by `p_m` and `μ̄` by `μ_m` does not give it. */
  memberFormula?: string;
  reference: string;
}

/** What a model predicts for a split. */
export interface Prediction {
  /** The weights of the targets, in their shape; absent: all count alike. */
  weights?: Weights;
}

/** The predictions of a split, and what metrics need beside them. `P` is what one model predicts for the split. */
export interface Evaluation<P extends Prediction> {
  /** The rank of every member, shape `[M]`. */
  ranks: readonly number[];
  /** The ensemble as one model: the mean of its members. */
  ensemble: P;
  /** Their product of experts, where it is what answers. */
  product?: P;
  /** Prediction of the member at a position, made when it is needed: those of all members may be large. */
  member(position: number): P;
}

/** A metric: a pure function of the ensemble's and the members' predictions. */
export type Metric<P extends Prediction, E extends Evaluation<P>> = MetricInfo &
  ({ of: 'prediction'; compute(prediction: P): number } | { of: 'ensemble'; compute(evaluation: E): number });

/** What the ensemble answers: the product where members combine by it, else the mean. */
export function answerOf<P extends Prediction>({ ensemble, product }: Evaluation<P>): P {
  return product ?? ensemble;
}

/**
 * The values of metrics: first the ensemble's, then those of its members in order of rank, then those of the product
 * that answers.
 *
 * @throws RangeError when ranks repeat, or what the metrics throw
 */
export function evaluateMetrics<P extends Prediction, E extends Evaluation<P>>(
  metrics: readonly Metric<P, E>[],
  evaluation: E,
  members: number,
): Metrics {
  const { ranks, ensemble } = evaluation;
  checkRanks([...ranks], members);
  const values = new Map(
    metrics.map((metric) =>
      metric.of === 'ensemble'
        ? [metric.name, metric.compute(evaluation)]
        : [`ens_${metric.name}`, metric.compute(ensemble)],
    ),
  );
  ranks.forEach((rank, position) => {
    for (const [name, value] of scoresOf(`member_${rank}`, evaluation.member(position), metrics)) {
      values.set(name, value);
    }
  });
  const ofProduct = evaluation.product && scoresOf('product', evaluation.product, metrics);
  return new Map([...values, ...(ofProduct ?? [])]);
}

/** The scores of one prediction, named `<subject>_<metric>`. */
function scoresOf<P extends Prediction, E extends Evaluation<P>>(
  subject: string,
  prediction: P,
  metrics: readonly Metric<P, E>[],
): Metrics {
  const scores = metrics.filter((metric) => metric.of === 'prediction');
  return new Map(scores.map((metric) => [`${subject}_${metric.name}`, metric.compute(prediction)]));
}

/** The standard metrics and those named in addition. */
export function chosenMetrics<M extends MetricInfo>(metrics: readonly M[], more: readonly string[]): M[] {
  return metrics.filter(({ isStandard, name }) => isStandard || more.includes(name));
}

/** A project's own metric, as its description names it. */
export interface OwnMetric {
  name: string;
  direction: Direction;
  /** `prediction`: judges the ensemble and each member; `ensemble`: one value. */
  of: 'prediction' | 'ensemble';
  help: string;
}

/** Prefixes of recorded names, which no metric may have. */
const taken = /^(ens|member|product|avg_member)_/;

/** Why a project's metric cannot have this name; null if it can. */
export function whyNotNamed(name: string, registry: readonly MetricInfo[]): string | null {
  const rule = 'name it with small letters, digits and "_", beginning with a letter';
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return `"${name}" cannot name a metric: ${rule}.`;
  if (registry.some((info) => info.name === name)) return `"${name}" is a metric of Tutti. Choose another name.`;
  return taken.test(name)
    ? `"${name}" begins like the name of a member's or the ensemble's metric. Omit the prefix.`
    : null;
}

/** A project's own metric in the form of the registry's. */
export function infoOfOwn({ name, direction, of, help }: OwnMetric, task: string): MetricInfo {
  const title = `${name[0].toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
  const text = { meaning: help, formula: 'the project’s metrics', reference: 'The project' };
  return { name, title, direction, of, tasks: [task as TaskKind], isStandard: true, ...text };
}

/** What a model can learn: the values of a project's `task`. */
export const taskKinds = [
  'classification',
  'binary',
  'ordinal',
  'multi-label',
  'regression',
  'heteroscedastic-regression',
  'poisson-regression',
  'quantile-regression',
] as const;
/** Levels of the quantiles where a project names none. */
export const usualQuantiles: readonly number[] = [0.05, 0.5, 0.95];
export type TaskKind = (typeof taskKinds)[number];

/** How many outputs of a model a task has. */
export function outputCount(kind: TaskKind): number {
  return kind === 'heteroscedastic-regression' ? 2 : 1;
}

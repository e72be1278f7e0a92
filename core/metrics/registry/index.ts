import { classMetrics, ordinalOnly } from './class-metrics.ts';
import { countOnly } from './count-metrics.ts';
import { gaussianOnly } from './gaussian-metrics.ts';
import { labelMetrics } from './label-metrics.ts';
import type { Direction, MetricInfo, TaskKind } from './metric.ts';
import { quantileMetrics } from './quantile-metrics.ts';
import { valueMetrics } from './value-metrics.ts';

/** All metrics. A name may occur once for each task, always with the same direction. */
export const registry: readonly MetricInfo[] = [
  ...classMetrics,
  ...ordinalOnly,
  ...labelMetrics,
  ...valueMetrics,
  ...gaussianOnly,
  ...countOnly,
  ...quantileMetrics,
];

/** What a recorded name such as `member_3_nll` stands for. */
export interface NamedMetric {
  /** `ens`, `product` or `member`; null for a metric that is one value for the ensemble. */
  subject: 'ens' | 'product' | 'member' | null;
  info: MetricInfo;
}

const subjects = /^(ens|product|member_(?:\d+|\{rank\}))_(.+)$/;

/** The metrics of a task. */
export function metricsOfTask(task: string): MetricInfo[] {
  return registry.filter(({ tasks }) => (tasks as readonly string[]).includes(task));
}

/**
 * The metric with a recorded name, without its split: `ens_nll`, `member_{rank}_acc`, `disagreement`; null if there is
 * none.
 *
 * @param infos where to look; all metrics by default
 */
export function metricNamed(name: string, infos: readonly MetricInfo[] = registry): NamedMetric | null {
  const whole = infos.find((info) => info.of === 'ensemble' && info.name === name);
  if (whole !== undefined) return { subject: null, info: whole };
  const [, subject, quantity] = subjects.exec(name) ?? [];
  const info = infos.find((one) => one.of === 'prediction' && one.name === quantity);
  if (subject === undefined || info === undefined) return null;
  return { subject: subject.startsWith('member') ? 'member' : (subject as 'ens' | 'product'), info };
}

/**
 * The direction of a quantity as evaluated sets name it, without `ens_`: `acc`, `std`; undefined for an unknown one.
 */
export function directionOfQuantity(quantity: string): Direction | undefined {
  const isIt = ({ name }: MetricInfo): boolean => name === quantity || name === `ens_${quantity}`;
  return registry.find(isIt)?.direction;
}

export type { Direction, MetricInfo, TaskKind };

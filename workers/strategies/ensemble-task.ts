import {
  countProductMetrics,
  labelProductMetrics,
  type MetricOptions,
  type Metrics,
  productMetrics,
} from '../../core/metrics/index.ts';
import { metricNamed } from '../../core/metrics/registry/index.ts';
import { type MetricRequests, requestedMetrics } from '../../core/metrics/registry/requested.ts';
import { metricsOfRun } from '../../core/metrics/registry/monitors.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { hasProduct } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { Dataset } from '../data/dataset.ts';
import type { MemberOutputs } from '../member/predictions.ts';
import { describeMetrics, type ProjectMetric, withOwnMetrics } from '../member/tasks/own-metrics.ts';
import { targetWeights } from '../member/tasks/target-weights.ts';
import { withHeldOut } from '../member/tasks/held-out-metrics.ts';
import { classesOf, type MetricsOf, type Task } from '../member/tasks.ts';

/**
 * A task with the metrics of a run: those that the configuration asks for, and those of the strategy's ensemble. Jointly trained members
 * predict by their product of experts, which has separate metrics (`product_nll`) that `auto` monitors; `ens_nll` remains the NLL of the
 * mean of the members' probabilities. A metric that the run's configuration monitors applies to its members as well.
 */
export function ensembleTask(
  task: Task,
  config: MetricRequests & Pick<RunConfig, 'strategy' | 'metrics'>,
  own: Readonly<Record<string, ProjectMetric>> = {},
): Task {
  const options = { more: requestedMetrics(config), nllEpsilon: config.metrics.nllEpsilon };
  const asked: Task = { ...task, metrics: (stack, dataset) => task.metrics(stack, dataset, options) };
  const computed = hasProduct(config, task.kind) ? withProduct(asked, options) : asked;
  const judged = { ...computed, metrics: withHeldOut(withOwnMetrics(computed.metrics, own)) };
  const { monitor } = config.checkpoints;
  if (monitor === 'auto') return judged;
  const [, output, metric] = /^val\/(?:(.+)\/)?([^/]+)$/.exec(monitor) ?? [];
  const { kind } = task.further?.find(({ name }) => name === output)?.task ?? task;
  // A member's metric for `val/ens_acc` is `val/member_3_acc`. Some metrics exist only for an ensemble.
  const named = metricNamed(metric ?? monitor, metricsOfRun({ task: kind, own: describeMetrics(own) }));
  const prefix = output === undefined ? 'val/' : `val/${output}/`;
  const memberMonitor =
    named === null || named.subject === null ? task.memberMonitor : `${prefix}member_{rank}_${named.info.name}`;
  return { ...judged, ensembleMonitor: monitor, memberMonitor };
}

function withProduct(task: Task, options: MetricOptions): Task {
  const metrics: MetricsOf = (stack, dataset) => {
    const ofDataset = { ...options, weights: targetWeights(dataset) };
    return new Map([...task.metrics(stack, dataset), ...productMetricsOf(task, stack, dataset, ofDataset)]);
  };
  return { ...task, metrics, ensembleMonitor: 'val/product_nll' };
}

function productMetricsOf({ kind }: Task, stack: MemberOutputs, { targets }: Dataset, options: MetricOptions): Metrics {
  const { ranks, samples, width, values } = stack;
  const members = ranks.length;
  if (kind === 'multi-label')
    return labelProductMetrics({ members, samples, classes: width, logits: values[0] }, targets, options);
  if (kind !== 'poisson-regression') return productMetrics(classesOf(stack), targets as Int32Array, options);
  const rates = { members, samples: samples * width, values: values[0] };
  return countProductMetrics(rates, targets as Float32Array, { ...options, columns: width });
}

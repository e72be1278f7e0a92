import { answerSubject, combinationOf } from '../../core/metrics/combination.ts';
import { metricNamed } from '../../core/metrics/registry/index.ts';
import { type MetricRequests, requestedMetrics } from '../../core/metrics/registry/requested.ts';
import { metricsOfRun } from '../../core/metrics/registry/monitors.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { describeMetrics, type ProjectMetric, withOwnMetrics } from '../member/tasks/own-metrics.ts';
import { withHeldOut } from '../member/tasks/held-out-metrics.ts';
import type { MetricsOf, Task } from '../member/tasks.ts';

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
  const combination = combinationOf(config.strategy, task.kind);
  const options = { more: requestedMetrics(config), nllEpsilon: config.metrics.nllEpsilon, combination };
  const metrics: MetricsOf = (stack, dataset) => task.metrics(stack, dataset, options);
  const ensembleMonitor = task.ensembleMonitor.replace('/ens_', `/${answerSubject[combination]}_`);
  const labelScores: Task['labelScores'] = (stack, dataset) => task.labelScores?.(stack, dataset, combination) ?? [];
  const judged = {
    ...task,
    ...(task.labelScores && { labelScores }),
    ensembleMonitor,
    metrics: withHeldOut(withOwnMetrics(metrics, own, { task: task.kind, combination })),
  };
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

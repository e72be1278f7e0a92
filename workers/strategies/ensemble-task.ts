import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { Dataset } from '../data/dataset.ts';
import { productMetrics } from '../../core/metrics/index.ts';
import type { MemberOutputs } from '../member/predictions.ts';
import { classesOf, type Task } from '../member/tasks.ts';

/**
 * A task with the metrics of a strategy's ensemble. Jointly trained members predict by their product of experts, which has
 * separate metrics (`product_nll`) that `auto` monitors; `ens_nll` remains the NLL of the mean of the members' probabilities.
 * A metric that the run's configuration monitors applies to its members as well.
 */
export function ensembleTask(task: Task, { strategy, checkpoints }: Pick<RunConfig, 'strategy' | 'checkpoints'>): Task {
  const judged = strategy.kind === 'joint' ? withProduct(task) : task;
  const { monitor } = checkpoints;
  if (monitor === 'auto') return judged;
  // A member's metric for `val/ens_acc` is `val/member_3_acc`. Some metrics exist only for an ensemble.
  const [, quantity] = /^val\/(?:ens|product)_(.+)$/.exec(monitor) ?? [];
  const memberMonitor =
    quantity === undefined || quantity === 'std' ? task.memberMonitor : `val/member_{rank}_${quantity}`;
  return { ...judged, ensembleMonitor: monitor, memberMonitor };
}

function withProduct(task: Task): Task {
  const metrics = (stack: MemberOutputs, dataset: Dataset) =>
    new Map([...task.metrics(stack, dataset), ...metricsOfProduct(stack, dataset)]);
  return { ...task, metrics, ensembleMonitor: 'val/product_nll' };
}

function metricsOfProduct(stack: MemberOutputs, { targets }: Dataset): Map<string, number> {
  return productMetrics(classesOf(stack), targets as Int32Array);
}

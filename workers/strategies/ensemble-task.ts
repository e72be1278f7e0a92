import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { Dataset } from '../data/dataset.ts';
import { productMetrics } from '../../core/metrics/index.ts';
import type { MemberOutputs } from '../member/predictions.ts';
import { classesOf, type Task } from '../member/tasks.ts';

/**
 * A task, judged as a strategy's ensemble predicts. Members that are trained jointly predict by their product of experts: that
 * gets metrics of its own (`product_nll`) and is what `auto` monitors, while `ens_nll` stays, as everywhere, that of the mean of the
 * members' probabilities. What the run's configuration monitors instead, its members are judged by as well.
 */
export function ensembleTask(task: Task, { strategy, checkpoints }: Pick<RunConfig, 'strategy' | 'checkpoints'>): Task {
  const judged = strategy.kind === 'joint' ? withProduct(task) : task;
  const { monitor } = checkpoints;
  if (monitor === 'auto') return judged;
  // `val/ens_acc` of a member is `val/member_3_acc`; what only an ensemble has says nothing of its members.
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

import { nearest } from '../../options/suggest.ts';
import { metricNamed, metricsOfTask } from './index.ts';
import { infoOfOwn, type MetricInfo, type OwnMetric } from './metric.ts';

/** What decides which metrics a run computes, or can compute if it is asked to. */
interface MonitoredRun {
  task: string;
  /** Jointly trained members answer by their product of experts. */
  isJoint: boolean;
  own: readonly OwnMetric[];
  /** Further outputs of its model, whose metrics are named `val/<output>/ens_nll`. */
  outputs?: readonly { name: string; task: string }[] | undefined;
}

/** The metrics that a run can compute: those of its task, and the project's own. */
export function metricsOfRun({ task, own }: Pick<MonitoredRun, 'task' | 'own'>): MetricInfo[] {
  return [...metricsOfTask(task), ...own.map((metric) => infoOfOwn(metric, task))];
}

/** Why a run cannot monitor a metric, with the closest names; null if it can, whatever its direction. */
export function whyNotComputed(monitor: string, run: MonitoredRun, option: string): string | null {
  const output = run.outputs?.find(({ name }) => monitor.startsWith(`val/${name}/`));
  if (output !== undefined) {
    const name = monitor.slice(`val/${output.name}/`.length);
    const problem = whyNotComputed(`val/${name}`, { task: output.task, isJoint: false, own: [] }, option);
    return problem === null ? null : `Output ${output.name}: ${problem}`;
  }
  const infos = metricsOfRun(run);
  const named = monitor.startsWith('val/') ? metricNamed(monitor.slice('val/'.length), infos) : null;
  if (named !== null && (named.subject !== 'product' || run.isJoint)) return null;
  const subjects = ['ens', 'member_{rank}', ...(run.isJoint ? ['product'] : [])];
  const names = infos.flatMap(({ name, of }) =>
    of === 'ensemble' ? [`val/${name}`] : subjects.map((subject) => `val/${subject}_${name}`),
  );
  const guesses = nearest(monitor, names);
  const remedy =
    guesses.length > 0
      ? `Did you mean ${guesses.join(' or ')}?`
      : `It has ${infos.map(({ name, of }) => (of === 'ensemble' ? name : `ens_${name}`)).join(', ')}, after ` +
        '"val/"; docs/metrics.md explains them.';
  return `${option} is "${monitor}", but this ${run.task} run computes no such metric. ${remedy}`;
}

/** Why the option `metrics.more` cannot list a name; null if it can. */
export function whyNotListed(name: string, task: string): string | null {
  const names = metricsOfTask(task).map((info) => info.name);
  if (names.includes(name)) return null;
  const guesses = nearest(name, names);
  const remedy =
    guesses.length > 0 ? `Did you mean ${guesses.join(' or ')}?` : `The task ${task} has ${names.join(', ')}.`;
  return `metrics.more lists "${name}", which is no metric of the task ${task}. ${remedy}`;
}

/** The part of a run's configuration that decides which metrics are computed. */
export interface MetricRequests {
  metrics: { more: string };
  checkpoints: { monitor: string };
  earlyStopping: { monitor: string };
  /** Only the kind `plateau` has a monitor. */
  schedule?: { kind: string; monitor?: string };
}

/** The names that the option `metrics.more` lists. */
export function listedMetrics({ metrics }: Pick<MetricRequests, 'metrics'>): string[] {
  return metrics.more
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Names of the metrics that are computed beside the standard ones: those listed, and those monitored. */
export function requestedMetrics(config: MetricRequests): string[] {
  const monitors = [config.checkpoints.monitor, config.earlyStopping.monitor, config.schedule?.monitor ?? 'auto'];
  const monitored = monitors.flatMap(
    (monitor) => metricNamed(monitor.slice(monitor.lastIndexOf('/') + 1))?.info.name ?? [],
  );
  return [...listedMetrics(config), ...monitored];
}

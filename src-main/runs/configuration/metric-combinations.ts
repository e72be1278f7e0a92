import { type MetricMode, modeFor, whyNotMonitored } from '../../../core/metrics/metric-mode.ts';
import { metricNamed } from '../../../core/metrics/registry/index.ts';
import { listedMetrics, metricsOfRun, whyNotComputed, whyNotListed } from '../../../core/metrics/registry/monitors.ts';
import type { OwnMetric } from '../../../core/metrics/registry/metric.ts';
import type { ConfigProblem } from '../../../core/options/index.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { combinationOf, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';

/** The task of a project, and its own metrics. */
export interface Measured {
  task: string;
  metrics?: readonly OwnMetric[] | undefined;
  /** Further outputs of its model. */
  outputs?: readonly { name: string; task: string }[] | undefined;
}

/**
 * The configuration with the direction of a project's own metric in place of `mode: auto` where it is monitored.
 * Everything that reads the run later then knows the direction without the project.
 */
export function withOwnModes(config: RunConfig, { task, metrics: own = [] }: Measured): RunConfig {
  const infos = metricsOfRun({ task, own }).filter(({ name }) => own.some((metric) => metric.name === name));
  const modeOf = (monitor: string, mode: RunConfig['checkpoints']['mode']): RunConfig['checkpoints']['mode'] => {
    const direction = metricNamed(monitor.replace(/^val\//, ''), infos)?.info.direction ?? 'none';
    return mode === 'auto' && direction !== 'none' ? direction : mode;
  };
  const { checkpoints, earlyStopping, schedule } = config;
  const monitorOf = (monitor: string): string => (monitor === 'auto' ? checkpoints.monitor : monitor);
  return {
    ...config,
    schedule:
      schedule.kind === 'plateau'
        ? { ...schedule, mode: modeOf(monitorOf(schedule.monitor), schedule.mode) }
        : schedule,
    checkpoints: { ...checkpoints, mode: modeOf(checkpoints.monitor, checkpoints.mode) },
    earlyStopping: { ...earlyStopping, mode: modeOf(monitorOf(earlyStopping.monitor), earlyStopping.mode) },
  };
}

/**
 * Metrics that a run cannot compute, monitors whose direction is unknown, and monitors of the ensemble that differ from
 * rank to rank.
 */
export function conflictsOfMetrics(given: RunConfig, project: Measured): ConfigProblem[] {
  const config = withOwnModes(given, project);
  const { earlyStopping, checkpoints, schedule } = config;
  const listed = listedMetrics(config).flatMap((name) => whyNotListed(name, project.task) ?? []);
  const conflicts: ConfigProblem[] = listed.map((message) => ({ path: 'metrics.more', message }));
  const monitors: Record<string, Monitored> = {
    checkpoints,
    ...(earlyStopping.enabled ? { earlyStopping } : {}),
    ...(schedule.kind === 'plateau' ? { schedule } : {}),
  };
  for (const [name, watched] of Object.entries(monitors)) {
    const message = problemOfMonitor(name, watched, config, project);
    if (message !== null) conflicts.push({ path: `${name}.monitor`, message });
  }
  if (checkpoints.monitor.includes('{rank}')) {
    const message =
      `checkpoints.monitor cannot be "${checkpoints.monitor}": it must name a metric of the ensemble, but this one ` +
      'differs from rank to rank. Use val/ens_nll, for instance; the same metric of each member decides the ' +
      "member's best.";
    conflicts.push({ path: 'checkpoints.monitor', message });
  }
  return [...conflicts, ...conflictsOfPlateau(config)];
}

/** Ranks that train one model have one learning rate. */
function conflictsOfPlateau({ schedule, strategy }: RunConfig): ConfigProblem[] {
  if (schedule.kind !== 'plateau' || !schedule.monitor.includes('{rank}')) return [];
  if (!strategyRules[strategy.kind].isOneModel) return [];
  const message =
    `schedule.monitor cannot be "${schedule.monitor}": with the strategy ${strategy.kind} all ranks train one ` +
    'model at one learning rate, but this metric differs from rank to rank. Monitor val/ens_nll, for instance.';
  return [{ path: 'schedule.monitor', message }];
}

/** What an option monitors. */
interface Monitored {
  monitor: string;
  mode: MetricMode | 'auto';
}

function problemOfMonitor(
  name: string,
  { monitor, mode }: Monitored,
  config: RunConfig,
  { task, metrics: own = [], outputs }: Measured,
): string | null {
  if (monitor === 'auto') return null;
  const unknown = whyNotComputed(
    monitor,
    { task, isJoint: combinationOf(config.strategy, task) === 'product', own, outputs },
    `${name}.monitor`,
  );
  return unknown ?? (modeFor(monitor, mode) === null ? whyNotMonitored(monitor, `${name}.mode`) : null);
}

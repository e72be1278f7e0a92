import { metricNamed } from './index.ts';

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

/** A loss or metric with 4 significant digits: `0.4101`. */
export function formatMetric(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(4) : String(value);
}

/** A duration in its two largest units: `12 s`, `3 m 12 s`, `1 h 04 m`, `2 d 03 h`. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${twoDigits(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${twoDigits(hours % 24)} h`;
}

/** The label of a metric: `ens NLL` for `val/ens_nll`. */
export function metricLabel(metric: string): string {
  const words = metric.slice(metric.lastIndexOf('/') + 1).split('_');
  return [...words.slice(0, -1), words[words.length - 1].toUpperCase()].join(' ');
}

/** The number of an epoch in the terminal, which counts from 1; files count from 0. */
export function countEpoch(epoch: number): number {
  return epoch + 1;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

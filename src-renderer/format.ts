/** `0.4101`: 4 significant digits, as losses and metrics are shown. */
export function formatMetric(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(4) : String(value);
}

/** `val/ens_nll` as `ens NLL`. */
export function metricLabel(metric: string): string {
  const words = metric.slice(metric.lastIndexOf('/') + 1).split('_');
  return [...words.slice(0, -1), words[words.length - 1].toUpperCase()].join(' ');
}

/** A time as the reader's own clock and language show it. */
export function formatTime(isoTime: string): string {
  return new Date(isoTime).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

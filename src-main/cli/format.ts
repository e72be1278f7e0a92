const siPrefixes = ['', 'k', 'M', 'G', 'T'];

/** `0.4101`: 4 significant digits, as losses and metrics are shown. */
export function formatMetric(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(4) : String(value);
}

/** `1.23k`: 3 significant digits at most and an SI prefix, as rates and counts are shown. */
export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  // The exponent after rounding: 999.9 is 1k.
  const exponent = Number(value.toExponential(2).split('e')[1]);
  const prefix = Math.min(Math.max(Math.floor(exponent / 3), 0), siPrefixes.length - 1);
  return `${Number((value / 1000 ** prefix).toPrecision(3))}${siPrefixes[prefix]}`;
}

/** `12 s`, `3 m 12 s`, `1 h 04 m`, `2 d 03 h`: the two largest units. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${twoDigits(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${twoDigits(hours % 24)} h`;
}

/** `val/ens_nll` as `ens NLL`. */
export function metricLabel(metric: string): string {
  const words = metric.slice(metric.lastIndexOf('/') + 1).split('_');
  return [...words.slice(0, -1), words[words.length - 1].toUpperCase()].join(' ');
}

/** The terminal counts epochs from 1, files from 0. */
export function countEpoch(epoch: number): number {
  return epoch + 1;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

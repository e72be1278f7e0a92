/** Numbers and metrics as the dashboard and the terminal spell them. */

/** Stands for a number that nobody knows. Where there is room, {@link whyUnknown} stands beside it. */
export const unknownText = '–';

/** Why a number is not known, in words for readers; null for a known one. @param value null: not measured */
export function whyUnknown(value: number | null): string | null {
  if (value === null) return 'not measured';
  return Number.isNaN(value) ? 'not a number (NaN)' : null;
}

/**
 * `0.4101`: 4 significant digits, for losses and metrics in texts. NaN is `– (NaN)`: a text has no other place for the
 * reason.
 */
export function formatMetric(value: number): string {
  if (Number.isNaN(value)) return `${unknownText} (NaN)`;
  return Number.isFinite(value) ? value.toPrecision(4) : formatInfinity(value);
}

/** `val/ens_nll` as `ens NLL`; `val/ambiguity`, a key of run files, as `Diversity gain`. */
export function metricLabel(metric: string): string {
  const name = metric.slice(metric.lastIndexOf('/') + 1);
  if (name === 'ambiguity') return 'Diversity gain';
  const words = name.split('_');
  return [...words.slice(0, -1), words[words.length - 1].toUpperCase()].join(' ');
}

const formatInfinity = (value: number): string => (value > 0 ? '∞' : '−∞');

/**
 * `0.4101`, `12,340`, `1.234e-6`: at least 4 significant digits, whole numbers in full up to a million. NaN is `–`: put
 * {@link whyUnknown} in the title.
 */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return unknownText;
  if (!Number.isFinite(value)) return formatInfinity(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(3).replace('e+', 'e');
  if (Number.isInteger(value) || size >= 1e4) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(4);
}

const suffixes = [
  { factor: 1e12, suffix: 'T' },
  { factor: 1e9, suffix: 'G' },
  { factor: 1e6, suffix: 'M' },
  { factor: 1e3, suffix: 'k' },
];

/** `1.5k`, `20M`, `0.25`: as short as the number allows, for ticks; up to 6 significant digits. */
export function formatShort(value: number): string {
  if (Number.isNaN(value)) return unknownText;
  const size = Math.abs(value);
  // `1.000e-5` as `1e-5`, and as short beyond the suffixes.
  if ((size !== 0 && size < 1e-4) || (size >= 1e15 && Number.isFinite(size))) {
    return value.toExponential(3).replace(/\.?0+e\+?/, 'e');
  }
  const unit = suffixes.find(({ factor }) => size >= factor);
  const scaled = unit === undefined ? value : value / unit.factor;
  return `${Number(scaled.toPrecision(6))}${unit?.suffix ?? ''}`;
}

/**
 * The two largest units of a duration: `45 s`, `12 m 05 s`, `1 h 04 m`, `2 d 03 h`; up to 3 digits below a minute.
 * @param keepsZeros `3 m 00 s` instead of `3 m`, so that a line of the terminal keeps its width
 */
export function formatDuration(seconds: number, keepsZeros = false): string {
  if (Number.isNaN(seconds)) return unknownText;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit));
  const [large, largeUnit, small, smallUnit] =
    days > 0
      ? [days, 'd', hours % 24, 'h']
      : hours > 0
        ? [hours, 'h', minutes % 60, 'm']
        : [minutes, 'm', Math.floor(seconds % 60), 's'];
  if (small === 0 && !keepsZeros) return `${large} ${largeUnit}`;
  return `${large} ${largeUnit} ${String(small).padStart(2, '0')} ${smallUnit}`;
}

const siPrefixes = ['', 'k', 'M', 'G', 'T'];

/** A rate or count with at most 3 significant digits and an SI prefix: `1.23k`. */
export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return formatValue(value);
  // The exponent after rounding: 999.9 is 1k.
  const exponent = Number(value.toExponential(2).split('e')[1]);
  const prefix = Math.min(Math.max(Math.floor(exponent / 3), 0), siPrefixes.length - 1);
  return `${Number((value / 1000 ** prefix).toPrecision(3))}${siPrefixes[prefix]}`;
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `1.23 GiB`: 3 significant digits below 1,000, units of 1,024. */
export function formatBytes(bytes: number): string {
  if (Number.isNaN(bytes)) return unknownText;
  let [amount, unit] = [bytes, 0];
  for (; amount >= 1024 && unit < byteUnits.length - 1; unit += 1) amount /= 1024;
  return `${amount < 1000 ? Number(amount.toPrecision(3)) : Math.round(amount)} ${byteUnits[unit]}`;
}

/** `42 %` for a share from 0 to 1. */
export function formatShare(share: number): string {
  return Number.isNaN(share) ? unknownText : `${Math.round(share * 100)} %`;
}

/** The number of an epoch for readers, who count from 1 as pages and terminal do; files count from 0. */
export function countEpoch(epoch: number): number {
  return epoch + 1;
}

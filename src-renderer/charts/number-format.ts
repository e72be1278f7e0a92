const suffixes = [
  { factor: 1e12, suffix: 'T' },
  { factor: 1e9, suffix: 'G' },
  { factor: 1e6, suffix: 'M' },
  { factor: 1e3, suffix: 'k' },
];

/** `0.4101`, `12,340`, `1.234e-6`: at least 4 significant digits, whole numbers in full up to a million. */
export function formatValue(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace('-', '−');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(3).replace('e+', 'e');
  if (Number.isInteger(value) || size >= 1e4) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(4);
}

/** `1.5k`, `20M`, `0.25`: as short as the number allows, for ticks; up to 6 significant digits. */
export function formatShort(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4) return trimZeros(value.toExponential(3));
  const unit = suffixes.find(({ factor }) => size >= factor);
  const scaled = unit === undefined ? value : value / unit.factor;
  return `${Number(scaled.toPrecision(6))}${unit?.suffix ?? ''}`;
}

/** `45 s`, `12 m 05 s`, `1 h 04 m`, `2 d 03 h`; below a minute up to 3 digits. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600)];
  const minutes = Math.floor(seconds / 60);
  if (days > 0) return pair(days, 'd', hours % 24, 'h');
  return hours > 0 ? pair(hours, 'h', minutes % 60, 'm') : pair(minutes, 'm', Math.floor(seconds % 60), 's');
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${String(small).padStart(2, '0')} ${smallUnit}`;
}

/** `1.000e-5` as `1e-5`. */
function trimZeros(text: string): string {
  return text.replace(/\.?0+e/, 'e');
}

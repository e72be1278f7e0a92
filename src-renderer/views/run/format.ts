const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1.23 MB`: 3 significant digits, units of a thousand. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), byteUnits.length - 1);
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${byteUnits[power]}`;
}

/** `12.3k`: 3 significant digits, as rates are shown; `-` for none. */
export function formatRate(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '-';
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
}

/** `acc` as `Accuracy`, `avg_member_nll` as `Avg member NLL`. */
export function metricTitle(metric: string): string {
  const acronyms = new Set(['nll', 'ece', 'mse', 'lr']);
  if (metric === 'acc') return 'Accuracy';
  const words = metric.split('_').map((word) => (acronyms.has(word) ? word.toUpperCase() : word));
  const title = words.join(' ');
  return `${title[0].toUpperCase()}${title.slice(1)}`;
}

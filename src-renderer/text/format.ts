/** `0.4101`: 4 significant digits, as losses and metrics are shown. */
export function formatMetric(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(4) : String(value);
}

/** `val/ens_nll` as `ens NLL`. */
export function metricLabel(metric: string): string {
  const words = metric.slice(metric.lastIndexOf('/') + 1).split('_');
  return [...words.slice(0, -1), words[words.length - 1].toUpperCase()].join(' ');
}

/** A time as the reader's own clock and language show it; with its year where that is not `now`'s. */
export function formatTime(isoTime: string, now = new Date()): string {
  const time = new Date(isoTime);
  return (time.getFullYear() === now.getFullYear() ? timeFormat : timeFormatWithYear).format(time);
}

// Made once: `toLocaleString` would make one for every row of the table of runs.
const timeFormat = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const timeFormatWithYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.23 GiB`: 3 significant digits below 1,000, units of 1,024, as the terminal shows sizes. */
export function formatBytes(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1);
  const amount = bytes / 1024 ** exponent;
  return `${amount < 1000 ? Number(amount.toPrecision(3)) : Math.round(amount)} ${byteUnits[exponent]}`;
}

/** `42 %` of a share from 0 to 1. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `maxEpochs` or `hidden_units` as `Max epochs`, `Hidden units`. */
export function labelOfName(name: string): string {
  if (name === 'blas') return 'BLAS';
  const words = name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ')
    .trim();
  return words[0].toUpperCase() + words.slice(1);
}

import { unknownText } from '../../../core/text/numbers.ts';

/** `12.3k`: 3 significant digits, as rates are shown; `–` for none. */
export function formatRate(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return unknownText;
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
}

/** `acc` as `Accuracy`, `avg_member_nll` as `Avg member NLL`. */
export function metricTitle(metric: string): string {
  const acronyms = new Set(['nll', 'ece', 'mse', 'lr']);
  if (metric === 'acc') return 'Accuracy';
  if (metric === 'ambiguity') return 'Diversity gain';
  const words = metric.split('_').map((word) => (acronyms.has(word) ? word.toUpperCase() : word));
  const title = words.join(' ');
  return `${title[0].toUpperCase()}${title.slice(1)}`;
}

import { nearest } from '../options/suggest.ts';

/** Whether a smaller or a larger value of a metric is better. */
export type MetricMode = 'min' | 'max';

/** Modes by quantity; the same for an ensemble, its members and its product of experts. null: neither direction is better. */
const modes: ReadonlyMap<string, MetricMode | null> = new Map([
  ['nll', 'min'],
  ['acc', 'max'],
  ['ece', 'min'],
  ['brier', 'min'],
  ['mse', 'min'],
  // A larger spread of the members can help or harm.
  ['std', null],
  ['ambiguity', null],
  ['ensemble_gain', null],
  ['disagreement', null],
  ['predictive_entropy', null],
  ['mutual_information', null],
  ['aleatoric', null],
  ['epistemic', null],
]);

/** Names to suggest for a mistyped one. */
const monitorNames = [...modes].flatMap(([quantity, mode]) =>
  mode === null ? [] : [`val/ens_${quantity}`, `val/product_${quantity}`, `val/member_{rank}_${quantity}`],
);

/**
 * The direction in which an evaluation metric improves, by its name (`val/ens_acc`, `val/member_3_nll`, `acc`): null if
 * neither direction is better, undefined for an unknown metric.
 */
export function modeOfMetric(metric: string): MetricMode | null | undefined {
  if (metric.includes('/') && !/^(val|validation|test)\//.test(metric)) return undefined;
  const quantity = metric
    .slice(metric.lastIndexOf('/') + 1)
    .replace(/^(ens|product|avg_member|member_(\d+|\{rank\}))_/, '');
  return modes.get(quantity);
}

/** The given mode or, for `auto`, the metric's own; null if the metric has none. */
export function modeFor(metric: string, mode: MetricMode | 'auto'): MetricMode | null {
  return mode === 'auto' ? (modeOfMetric(metric) ?? null) : mode;
}

/**
 * Like {@link modeFor}, for a metric that must have a mode because it is monitored.
 *
 * @param option name of the option that sets the mode, for the message: `earlyStopping.mode`
 * @throws Error for `auto` when the metric is unknown or neither direction is better
 */
export function resolveMode(metric: string, mode: MetricMode | 'auto', option: string): MetricMode {
  const found = modeFor(metric, mode);
  if (found === null) throw new Error(whyNotMonitored(metric, option));
  return found;
}

/** Why {@link modeFor} found no mode, and what to do about it. */
export function whyNotMonitored(metric: string, option: string): string {
  const isKnown = modeOfMetric(metric) !== undefined;
  const guesses = isKnown ? [] : nearest(metric, monitorNames);
  const guess = guesses.length === 0 ? '' : ` (did you mean ${guesses.join(' or ')}?)`;
  const reason = isKnown ? 'neither a smaller nor a larger value is better' : `Tutti knows no such metric${guess}`;
  return (
    `"${metric}" cannot be monitored with ${option} auto: ${reason}. Set ${option} to min or max, or monitor another metric, ` +
    'such as val/ens_nll.'
  );
}

/** Whether a score is better than the best so far by more than `minDelta`; false for NaN and infinities. */
export function improves(score: number, best: number | null, mode: MetricMode, minDelta = 0): boolean {
  if (!Number.isFinite(score)) return false;
  if (best === null) return true;
  return mode === 'min' ? score < best - minDelta : score > best + minDelta;
}

import { nearest } from '../options/suggest.ts';

/** Whether a smaller or a larger value of a metric is better. */
export type MetricMode = 'min' | 'max';

/** By quantity, of an ensemble, its members and its product of experts alike; null: neither end is better. */
const modes: ReadonlyMap<string, MetricMode | null> = new Map([
  ['nll', 'min'],
  ['acc', 'max'],
  ['ece', 'min'],
  ['brier', 'min'],
  ['mse', 'min'],
  // A larger spread of members helps or harms, whatever the members are worth.
  ['std', null],
  ['ambiguity', null],
  ['ensemble_gain', null],
  ['disagreement', null],
  ['predictive_entropy', null],
  ['mutual_information', null],
  ['aleatoric', null],
  ['epistemic', null],
]);

/** Names that are taken for a mistyped one. */
const monitorNames = [...modes].flatMap(([quantity, mode]) =>
  mode === null ? [] : [`val/ens_${quantity}`, `val/product_${quantity}`, `val/member_{rank}_${quantity}`],
);

/**
 * Which way a metric of evaluations improves, by its name (`val/ens_acc`, `val/member_3_nll`, `acc`): null where neither end is better,
 * undefined for a metric that Tutti does not know.
 */
export function modeOfMetric(metric: string): MetricMode | null | undefined {
  if (metric.includes('/') && !/^(val|validation|test)\//.test(metric)) return undefined;
  const quantity = metric
    .slice(metric.lastIndexOf('/') + 1)
    .replace(/^(ens|product|avg_member|member_(\d+|\{rank\}))_/, '');
  return modes.get(quantity);
}

/** The mode that was given or, with `auto`, that of the metric itself; null where neither tells. */
export function modeFor(metric: string, mode: MetricMode | 'auto'): MetricMode | null {
  return mode === 'auto' ? (modeOfMetric(metric) ?? null) : mode;
}

/**
 * The mode that a monitored metric is judged by: the one that was given, or that of the metric itself.
 *
 * @param option what says the mode, for the message: `earlyStopping.mode`
 * @throws Error when `auto` cannot tell: the metric is unknown, or neither end of it is better
 */
export function resolveMode(metric: string, mode: MetricMode | 'auto', option: string): MetricMode {
  const found = modeFor(metric, mode);
  if (found === null) throw new Error(whyNotMonitored(metric, option));
  return found;
}

/** Why {@link modeFor} cannot tell, and what to do about it. */
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

/** Whether a score beats the best so far by more than `minDelta`; NaN and infinities never do. */
export function improves(score: number, best: number | null, mode: MetricMode, minDelta = 0): boolean {
  if (!Number.isFinite(score)) return false;
  if (best === null) return true;
  return mode === 'min' ? score < best - minDelta : score > best + minDelta;
}

import { nearest } from '../options/suggest.ts';
import { directionOfQuantity, metricNamed, registry } from './registry/index.ts';

/** Whether a smaller or a larger value of a metric is better. */
export type MetricMode = 'min' | 'max';

/** Names to suggest for a mistyped one. */
const monitorNames = [
  ...new Set(
    registry.flatMap(({ name, direction, of }) => {
      if (direction === 'none') return [];
      const subjects = ['ens', 'product', 'member_{rank}'];
      return of === 'ensemble' ? [`val/${name}`] : subjects.map((subject) => `val/${subject}_${name}`);
    }),
  ),
];

/**
 * The direction in which an evaluation metric improves, by its name (`val/ens_acc`, `val/member_3_nll`, `acc`): null if
 * neither direction is better, undefined for an unknown metric.
 */
export function modeOfMetric(metric: string): MetricMode | null | undefined {
  if (metric.includes('/') && !/^(val|validation|test)\//.test(metric)) return undefined;
  const name = metric.slice(metric.lastIndexOf('/') + 1);
  const direction = metricNamed(name)?.info.direction ?? directionOfQuantity(name.replace(/^product_/, ''));
  return direction === 'none' ? null : direction;
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
    `"${metric}" cannot be monitored with ${option} auto: ${reason}. Set ${option} to min or max, or monitor ` +
    'another metric, such as val/ens_nll.'
  );
}

/** Whether a score is better than the best so far by more than `minDelta`; false for NaN and infinities. */
export function improves(score: number, best: number | null, mode: MetricMode, minDelta = 0): boolean {
  if (!Number.isFinite(score)) return false;
  if (best === null) return true;
  return mode === 'min' ? score < best - minDelta : score > best + minDelta;
}

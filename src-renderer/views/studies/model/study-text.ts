import { formatValue, unknownText } from '../../../../core/text/numbers.ts';
import type { StudySummary, StudyTrial } from '../../../../core/protocol/pages/studies/study-views.ts';

/** `42 of 100 trials ended, 3 running, 2 failed`. */
export function progressText({ wanted, running, paused, complete, pruned, failed }: StudySummary['trials']): string {
  const parts = { running, paused, pruned, failed };
  const others = Object.entries(parts).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]));
  return [`${complete + pruned + failed} of ${wanted} trials ended`, ...others].join(', ');
}

/** `0.5525 ± 0.0031` of an objective; `–` where the trial has none. */
export function scoreText(
  { objectives, standardErrors }: Pick<StudyTrial, 'objectives' | 'standardErrors'>,
  index = 0,
): string {
  const value = objectives?.[index];
  if (value === undefined) return unknownText;
  const error = standardErrors?.[index] ?? NaN;
  return Number.isNaN(error) ? formatValue(value) : `${formatValue(value)} ± ${Number(error.toPrecision(2))}`;
}

/** `weightDecay 0.153, units 64`. */
export function valuesText(values: StudyTrial['values']): string {
  return Object.entries(values)
    .map(([path, value]) => `${path} ${typeof value === 'number' ? formatValue(value) : value}`)
    .join(', ');
}

import { lossOf, lossesOf, type Direction, type Report, type Trial } from '../trial.ts';
import type { Pruner } from './settings.ts';
import { chanceOfPositive } from './wilcoxon.ts';

/**
 * Whether to stop a running trial after its last report, for pruners that stop trials for good; rungs have
 * {@link nextWork}.
 * @param others the study's other trials
 */
export function shouldStop(pruner: Pruner, trial: Trial, others: readonly Trial[], direction: Direction): boolean {
  if (trial.reports.length === 0) return false;
  const complete = others.filter(({ state }) => state === 'complete');
  if (pruner.kind === 'median') return isBelowMedian(pruner, trial.reports, complete, direction);
  if (pruner.kind === 'wilcoxon') return isWorseOverSplits(pruner, trial.reports, complete, direction);
  return false;
}

/**
 * The median stopping rule: the best value so far against the median of what complete trials reported at the same step.
 *
 * Source: Golovin et al., "Google Vizier", 2017; settings as in Optuna's `MedianPruner`.
 */
function isBelowMedian(
  settings: Extract<Pruner, { kind: 'median' }>,
  reports: readonly Report[],
  complete: readonly Trial[],
  direction: Direction,
): boolean {
  const { startupTrials, warmupSteps, intervalSteps, minimumTrials } = settings;
  const steps = reports.map(({ step }) => step).toSorted((left, right) => left - right);
  const step = steps[steps.length - 1];
  if (complete.length === 0 || complete.length < startupTrials || step < warmupSteps) return false;
  // Only the first report of each interval is checked.
  const checked = Math.floor((step - warmupSteps) / intervalSteps) * intervalSteps + warmupSteps;
  if (steps.length > 1 && steps[steps.length - 2] >= checked) return false;
  const best = Math.min(...reports.map(({ value }) => lossOf(value, direction)));
  if (best === Infinity && reports.every(({ value }) => Number.isNaN(value))) return true;
  const atStep = complete.flatMap((other) => other.reports.filter((report) => report.step === step));
  const losses = atStep.filter(({ value }) => !Number.isNaN(value)).map(({ value }) => lossOf(value, direction));
  return atStep.length >= minimumTrials && losses.length > 0 && best > medianOf(losses);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Wilcoxon's test of the losses against the best trial's on the same splits, unless the mean so far is no worse, as in
 * Optuna.
 */
function isWorseOverSplits(
  { threshold, startupSteps }: Extract<Pruner, { kind: 'wilcoxon' }>,
  reports: readonly Report[],
  complete: readonly Trial[],
  direction: Direction,
): boolean {
  const best = complete.reduce<Trial | null>(
    (found, trial) =>
      found === null || lossesOf(trial, [direction])[0] < lossesOf(found, [direction])[0] ? trial : found,
    null,
  );
  if (best === null || best.reports.length === 0) return false;
  if (![...reports, ...best.reports].every(({ value }) => Number.isFinite(value))) return false;
  const differences = reports.flatMap(({ step, value }) => {
    const other = best.reports.find((report) => report.step === step);
    return other === undefined ? [] : [lossOf(value, direction) - lossOf(other.value, direction)];
  });
  if (differences.length < Math.max(2, startupSteps)) return false;
  const isNoWorse = meanLoss(reports, direction) <= meanLoss(best.reports, direction);
  return !isNoWorse && chanceOfPositive(differences) < threshold;
}

function meanLoss(reports: readonly Report[], direction: Direction): number {
  return reports.reduce((sum, { value }) => sum + lossOf(value, direction), 0) / reports.length;
}

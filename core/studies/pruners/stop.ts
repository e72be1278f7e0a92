import { type Direction, lossesOf, lossOf, type Report, type Trial } from '../trial.ts';
import type { Pruner } from './settings.ts';
import { normalDistribution } from '../../numeric/normal.ts';

/** Up to this many differences with ties or zeros, all signs are counted; 2^13 of them. */
const countedWithTies = 13;
/** Up to this many differences without ties, the exact distribution of the rank sum is used. */
const countedWithoutTies = 50;

/**
 * The one-sided p-value of Wilcoxon's signed-rank test: how probable a rank sum of the positive differences at least
 * this large is if the differences are symmetric around 0. Zeros count half as positive (`zsplit`). Exact for up to 50
 * differences without ties and 13 with them, by the normal approximation with a correction for ties above, as in SciPy.
 * NaN without differences.
 *
 * Source: Wilcoxon, "Individual comparisons by ranking methods", 1945; Cureton, "The normal approximation to the
 * signed-rank sampling distribution when zero differences are present", 1967.
 */
export function chanceOfPositive(differences: readonly number[]): number {
  const count = differences.length;
  if (count === 0) return NaN;
  const { ranks, ties } = rankSizes(differences);
  const sum = differences.reduce(
    (total, difference, index) => total + ranks[index] * (difference > 0 ? 1 : difference === 0 ? 0.5 : 0),
    0,
  );
  const distinct = ties.length === count && !differences.includes(0);
  if (distinct ? count <= countedWithoutTies : count <= countedWithTies) {
    return exactTail(
      ranks.filter((_, index) => differences[index] !== 0),
      sum - zeroShare(differences, ranks),
    );
  }
  const variance =
    (count * (count + 1) * (2 * count + 1)) / 24 - ties.reduce((total, tie) => total + tie ** 3 - tie, 0) / 48;
  return normalDistribution(-(sum - (count * (count + 1)) / 4) / Math.sqrt(variance));
}

/** What the zeros contribute to the rank sum, whatever the signs of the others. */
function zeroShare(differences: readonly number[], ranks: readonly number[]): number {
  return ranks.reduce((sum, rank, index) => sum + (differences[index] === 0 ? rank / 2 : 0), 0);
}

/**
 * The share of all signs for which the ranks of the positive ones sum to at least `sum`. Ranks are multiples of 1/2.
 */
function exactTail(ranks: readonly number[], sum: number): number {
  let ways = Float64Array.of(1);
  for (const rank of ranks) {
    const shift = Math.round(2 * rank);
    const next = new Float64Array(ways.length + shift);
    for (const [index, count] of ways.entries()) {
      next[index] += count / 2;
      next[index + shift] += count / 2;
    }
    ways = next;
  }
  return ways.subarray(Math.round(2 * sum)).reduce((total, share) => total + share, 0);
}

/** Ranks of the absolute values from 1, equal ones sharing their mean, and how many share each rank. */
function rankSizes(differences: readonly number[]): { ranks: number[]; ties: number[] } {
  const sizes = differences.map(Math.abs);
  const order = sizes.map((_, index) => index).toSorted((left, right) => sizes[left] - sizes[right]);
  const ranks = sizes.map(() => 0);
  const ties: number[] = [];
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && sizes[order[end]] === sizes[order[start]]) end++;
    for (const index of order.slice(start, end)) ranks[index] = (start + 1 + end) / 2;
    ties.push(end - start);
    start = end;
  }
  return { ranks, ties };
}

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

import type { RankView, RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';

/** Long enough to contain a few evaluations. */
const windowMs = 60_000;
/** A shorter time gives no reliable forecast. */
const shortestWindowMs = 1_000;

/**
 * The longest time that a run will still train, in ms (an early stop ends it sooner); null while unknown. Assumes that ranks of
 * later waves take as long as those of this one.
 *
 * @param lossesOf the training losses of a rank, whose times give its pace
 */
export function remainingMs(
  { ranks, totalSteps }: Pick<RunView, 'ranks' | 'totalSteps'>,
  lossesOf: (rank: number) => MetricColumns | undefined,
): number | null {
  if (totalSteps === null) return null;
  const slowest = slowestRank(ranks);
  const losses = slowest && lossesOf(slowest.rank);
  if (!slowest || !losses) return null;
  const pace = stepsPerMs(losses);
  if (pace === null) return null;
  const lastWave = Math.max(...ranks.map(({ wave }) => wave));
  const steps = totalSteps - slowest.step + (lastWave - slowest.wave) * totalSteps;
  return Math.max(0, steps) / pace;
}

/** The rank of the running wave with the fewest steps; null if none trains. */
export function slowestRank(ranks: readonly RankView[]): RankView | null {
  const active = ranks.filter(({ state }) => state === 'training' || state === 'evaluating');
  return active.reduce<RankView | null>(
    (slowest, rank) => (slowest === null || rank.step < slowest.step ? rank : slowest),
    null,
  );
}

function stepsPerMs({ step, timeMs, length }: MetricColumns): number | null {
  const last = length - 1;
  let first = last;
  while (first > 0 && timeMs[last] - timeMs[first - 1] <= windowMs) first -= 1;
  const elapsedMs = timeMs[last] - timeMs[first];
  return elapsedMs >= shortestWindowMs ? (step[last] - step[first]) / elapsedMs : null;
}

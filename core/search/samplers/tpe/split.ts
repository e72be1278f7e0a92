import { chooseFronts } from '../../pareto/choose-fronts.ts';
import { lossesOf, lossOf, type Direction, type Trial } from '../../trial.ts';

export interface Split {
  /** The best trials, in the order in which they came. */
  below: Trial[];
  /** All others, in the order in which they came. */
  above: Trial[];
}

/**
 * How many of n finished trials count as good: min(⌈0.1 n⌉, 25), or ⌈0.1 n⌉ with several objectives, where the front may be long.
 */
export function countBelow(finished: number, objectives: number): number {
  const share = Math.ceil(0.1 * finished);
  return objectives === 1 ? Math.min(share, 25) : share;
}

/**
 * Splits trials into good ones and the rest: complete trials by their losses, then pruned ones, the later stopped the better. Running and paused
 * trials count as bad, which keeps the next suggestions away from them (the constant liar). Of equal trials the first are better.
 */
export function splitTrials(trials: readonly Trial[], directions: readonly Direction[], size: number): Split {
  const complete = trials.filter(({ state }) => state === 'complete');
  const pruned = trials.filter(({ state }) => state === 'pruned');
  const good = new Set(chooseComplete(complete, directions, Math.min(size, complete.length)));
  for (const trial of rankPruned(pruned, directions[0]).slice(0, size - good.size)) good.add(trial);
  return { below: trials.filter((trial) => good.has(trial)), above: trials.filter((trial) => !good.has(trial)) };
}

function chooseComplete(complete: readonly Trial[], directions: readonly Direction[], size: number): Trial[] {
  if (size === 0 || size === complete.length) return complete.slice(0, size);
  const losses = complete.map((trial) => lossesOf(trial, directions));
  if (directions.length === 1) {
    const order = complete
      .map((_, row) => row)
      .toSorted((left, right) => losses[left][0] - losses[right][0] || left - right);
    return order.slice(0, size).map((row) => complete[row]);
  }
  return chooseFronts(losses, size).map((row) => complete[row]);
}

/** The later a trial was stopped the better, then by its last report. Trials without reports come last. */
function rankPruned(pruned: readonly Trial[], direction: Direction): Trial[] {
  const scored = pruned.map((trial) => {
    const last = trial.reports.reduce<{ step: number; value: number } | null>(
      (latest, report) => (latest === null || report.step > latest.step ? report : latest),
      null,
    );
    return { trial, step: last?.step ?? -1, loss: last === null ? 0 : lossOf(last.value, direction) };
  });
  const better = (left: (typeof scored)[number], right: (typeof scored)[number]): number =>
    right.step - left.step ||
    (left.loss === right.loss ? 0 : left.loss - right.loss) ||
    left.trial.number - right.trial.number;
  return scored.toSorted(better).map(({ trial }) => trial);
}

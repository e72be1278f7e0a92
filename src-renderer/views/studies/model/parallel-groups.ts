import type { StudyTrial } from '../../../../core/protocol/pages/studies/study-views.ts';
import { lossOf, type Direction } from '../../../../core/search/trial.ts';
import type { ParallelGroup } from '../../../charts/parallel/types.ts';
import type { TrialAxis } from './trial-axes.ts';

/** Shares of the complete trials by their objective, the best first, and how strong their lines are. */
const shades = [
  { upTo: 0.1, label: 'best tenth', opacity: 0.95, width: 1.5 },
  { upTo: 0.5, label: 'better half', opacity: 0.45, width: 1 },
  { upTo: 1, label: 'worse half', opacity: 0.18, width: 1 },
];

/** Lines of the complete trials by how good their objective is, of the failed ones, and behind them those that are not selected. */
export function parallelGroups(
  trials: readonly StudyTrial[],
  isSelected: (trial: StudyTrial) => boolean,
  axes: readonly TrialAxis[],
  index: number,
  direction: Direction,
): ParallelGroup[] {
  const complete = trials.filter(({ state }) => state === 'complete');
  const losses = new Map(complete.map((trial) => [trial, lossOf(trial.objectives?.[index] ?? NaN, direction)]));
  const ranked = complete.toSorted((left, right) =>
    compare(losses.get(left) ?? Infinity, losses.get(right) ?? Infinity),
  );
  const linesOf = (own: readonly StudyTrial[]): Pick<ParallelGroup, 'ids' | 'rows'> => ({
    ids: own.map(({ number }) => number),
    rows: own.map((trial) => axes.map(({ valueOf }) => valueOf(trial))),
  });
  const shown = ranked.filter(isSelected);
  const shaded = shades.map(({ upTo, ...look }, place): ParallelGroup => {
    const from = Math.ceil((shades[place - 1]?.upTo ?? 0) * ranked.length);
    const own = new Set(ranked.slice(from, Math.ceil(upTo * ranked.length)));
    return { ...look, color: 'accent', ...linesOf(shown.filter((trial) => own.has(trial))) };
  });
  const failed = trials.filter((trial) => trial.state === 'failed' && isSelected(trial));
  const others = trials.filter((trial) => !isSelected(trial));
  const groups: ParallelGroup[] = [
    { label: 'not selected', color: 'text-muted', opacity: 0.12, width: 1, isFaded: true, ...linesOf(others) },
    ...shaded,
    { label: 'failed', color: 'bad', opacity: 0.4, width: 1, ...linesOf(failed) },
  ];
  return groups.filter(({ ids }) => ids.length > 0);
}

function compare(left: number, right: number): number {
  return left === right ? 0 : left - right;
}

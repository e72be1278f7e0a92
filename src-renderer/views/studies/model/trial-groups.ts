import type { StudyTrial } from '../../../../core/protocol/pages/studies/study-views.ts';
import type { TrialState } from '../../../../core/search/trial.ts';
import type { PointGroup } from '../../../charts/scatter/types.ts';
import type { Colored, PointSymbol } from '../../../charts/types.ts';

/** How trials of a state look in charts: states differ by their shapes, not only by their colours. */
export const stateLooks: Readonly<Record<TrialState, { symbol: PointSymbol } & Required<Pick<Colored, 'color'>>>> = {
  complete: { symbol: 'dot', color: 'accent' },
  pruned: { symbol: 'ring', color: 'text-muted' },
  paused: { symbol: 'bars', color: 'warn' },
  running: { symbol: 'arrow', color: 'good' },
  failed: { symbol: 'cross', color: 'bad' },
};

/** In the order of legends. */
export const states = Object.keys(stateLooks) as readonly TrialState[];

/** Where a trial lies in a plot. */
export interface TrialPoint {
  x: number;
  y: number;
  /** Standard error of y. */
  error?: number;
}

/** A group of points for each state, and one behind it for the trials of that state that are not selected. */
export function groupsByState(
  trials: readonly StudyTrial[],
  isSelected: (trial: StudyTrial) => boolean,
  pointOf: (trial: StudyTrial) => TrialPoint,
): PointGroup[] {
  return states.flatMap((state) => {
    const own = Map.groupBy(
      trials.filter((trial) => trial.state === state),
      isSelected,
    );
    return [true, false].flatMap((isFaded) => {
      const shown = own.get(!isFaded) ?? [];
      return shown.length === 0 ? [] : [groupOf(state, isFaded, shown, pointOf)];
    });
  });
}

function groupOf(
  state: TrialState,
  isFaded: boolean,
  trials: readonly StudyTrial[],
  pointOf: (trial: StudyTrial) => TrialPoint,
): PointGroup {
  const points = trials.map(pointOf);
  const errors = points.map(({ error }) => error ?? NaN);
  return {
    label: state,
    ...stateLooks[state],
    isFaded,
    ids: trials.map(({ number }) => number),
    x: points.map(({ x }) => x),
    y: points.map(({ y }) => y),
    ...(errors.some(Number.isFinite) && { errors }),
  };
}

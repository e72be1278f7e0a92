import type { StudyTrial } from '../../../core/protocol/pages/study-views.ts';
import { type Direction, lossOf, type TrialState } from '../../../core/studies/trial.ts';
import type { PointGroup } from '../../charts/scatter/scatter.ts';
import type { Colored, PointSymbol } from '../../charts/types.ts';
import type { ParallelGroup } from '../../charts/figures/parallel-lines.ts';
import { metricLabel } from '../../../core/text/numbers.ts';
import type { Objective } from '../../../core/protocol/studies/study.ts';
import { type Domain, levelOf, levelsOf } from '../../../core/studies/space/domain.ts';
import type { Space, SpaceParameter } from '../../../core/studies/space/space.ts';
import { scaleAround, widened } from '../../charts/columns.ts';
import type { PlotAxis } from '../../charts/scene/axes.ts';

/** A quantity that every trial may have: its number, a parameter or an objective. */
export interface TrialAxis extends PlotAxis {
  /** `number`, `parameter lr`, `objective 0`. */
  id: string;
  /** How far a key moves an end of a brush, as a share of the axis. */
  keyStep: number;
  /** Where the trial lies on the axis; NaN where it has no such value. */
  valueOf: (trial: StudyTrial) => number;
}

const keyStep = 0.02;

/** The parameters in the order of the space, on their own scales. Choices lie at whole numbers from 0. */
export function parameterAxes(space: Space): TrialAxis[] {
  return space.map(parameterAxis);
}

function parameterAxis({ path, domain }: SpaceParameter): TrialAxis {
  const levels = levelsOf(domain);
  return {
    id: `parameter ${path}`,
    label: path,
    ...scaleOf(domain),
    keyStep: levels === null ? keyStep : Math.max(keyStep, 1 / levels),
    valueOf: ({ values }) => (Object.hasOwn(values, path) ? placeOf(domain, values[path]) : NaN),
  };
}

function scaleOf(domain: Domain): Pick<PlotAxis, 'scale' | 'ticks'> {
  if (domain.kind === 'numeric') return { scale: widened({ from: domain.low, to: domain.high, isLog: domain.log }) };
  return {
    scale: { from: -0.5, to: domain.choices.length - 0.5, isLog: false },
    ticks: domain.choices.map((choice, value) => ({ value, label: String(choice) })),
  };
}

function placeOf(domain: Domain, value: StudyTrial['values'][string]): number {
  if (domain.kind === 'numeric') return Number(value);
  const level = levelOf(domain, value);
  return level === -1 ? NaN : level;
}

/** `ensemble NLL`, `mean member NLL`. */
export function objectiveLabel({ kind, metric }: Objective): string {
  return `${kind === 'ensemble' ? 'ensemble' : 'mean member'} ${metricLabel(metric)}`;
}

/** An objective. With `isLog` on a logarithmic scale, as long as no value is 0 or below. */
export function objectiveAxis(
  objective: Objective,
  index: number,
  trials: readonly StudyTrial[],
  isLog: boolean,
): TrialAxis {
  const valueOf = (trial: StudyTrial): number => objectiveValue(trial, index);
  const values = trials.map(valueOf);
  return {
    id: `objective ${index}`,
    label: objectiveLabel(objective),
    // Twice the room, so that failed trials on the lower edge lie below the best ones.
    scale: widened(scaleAround([values], isLog && !values.some((value) => value <= 0))),
    keyStep,
    valueOf,
  };
}

/**
 * A trial's value of an objective. A trial that has not ended, and a pruned one, have of the first objective what they
 * reported last; a failed one has none.
 */
export function objectiveValue({ state, objectives, reports }: StudyTrial, index: number): number {
  if (state === 'complete') return objectives?.[index] ?? NaN;
  return state === 'failed' || index > 0 ? NaN : (reports.at(-1)?.value ?? NaN);
}

/** The trials in their order. */
export function numberAxis(trials: readonly StudyTrial[]): TrialAxis {
  const last = trials.at(-1)?.number ?? 0;
  return {
    id: 'number',
    label: 'trial',
    scale: widened({ from: 0, to: Math.max(last, 1), isLog: false }),
    keyStep,
    valueOf: ({ number }) => number,
  };
}

/** How trials of a state look in charts: states differ by their shapes, not only by their colours. */
export const stateLooks: Readonly<Record<TrialState, { symbol: PointSymbol } & Required<Pick<Colored, 'color'>>>> = {
  complete: { symbol: 'dot', color: 'accent' },
  pruned: { symbol: 'ring', color: 'text-muted' },
  paused: { symbol: 'bars', color: 'warn' },
  running: { symbol: 'arrow', color: 'good' },
  failed: { symbol: 'cross', color: 'bad' },
};

/** The states in the order of legends. */
export const states = Object.keys(stateLooks) as readonly TrialState[];

/** Where a trial lies in a plot. */
interface TrialPoint {
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

/** Shares of the complete trials by their objective, the best first, and how strong their lines are. */
const shades = [
  { upTo: 0.1, label: 'best tenth', opacity: 0.95, width: 1.5 },
  { upTo: 0.5, label: 'better half', opacity: 0.45, width: 1 },
  { upTo: 1, label: 'worse half', opacity: 0.18, width: 1 },
];

/**
 * Lines of the complete trials by how good their objective is, of the failed ones, and behind them those that are not
 * selected.
 */
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

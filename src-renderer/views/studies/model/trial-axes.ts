import { metricLabel } from '../../../../core/text/numbers.ts';
import type { StudyTrial } from '../../../../core/protocol/pages/study-views.ts';
import type { Objective } from '../../../../core/protocol/studies/study.ts';
import { levelOf, levelsOf, type Domain } from '../../../../core/search/space/domain.ts';
import type { Space, SpaceParameter } from '../../../../core/search/space/space.ts';
import { scaleAround, widened } from '../../../charts/points/columns.ts';
import type { PlotAxis } from '../../../charts/scene/axes.ts';

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

import type { StudySummary, StudyTrial } from '../../../core/protocol/pages/study-views.ts';
import { bestSoFar } from '../../../core/protocol/studies/results.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { paretoFront } from '../../../core/studies/pareto/front.ts';
import { type Direction, lossesOf, lossOf } from '../../../core/studies/trial.ts';
import type { PlotLine, PlotMark, PointGroup } from '../../charts/scatter/scatter.ts';
import { formatValue, unknownText } from '../../../core/text/numbers.ts';
import type { Span, SpanGroup } from '../../charts/figures/lanes.ts';
import { stateLooks, states } from './trial-groups.ts';

/** The best value of an objective so far, over the numbers of the trials. */
export function historyLine(study: Study, trials: readonly StudyTrial[], index: number): PlotLine {
  // The minimum improvement is one of the first objective.
  const minimumImprovement = index === 0 ? study.minimumImprovement : 0;
  const alone = trials.map((trial) => ({ ...trial, objectives: trial.objectives?.slice(index, index + 1) ?? null }));
  const best = bestSoFar({ objectives: [study.objectives[index]], minimumImprovement }, alone);
  const x = best.map(({ number }) => number);
  const y = best.map(({ objectives }) => objectives?.[0] ?? NaN);
  const last = trials.at(-1)?.number;
  const isHeld = last !== undefined && y.length > 0 && last > x[x.length - 1];
  return {
    label: 'best so far',
    isStep: true,
    x: isHeld ? [...x, last] : x,
    y: isHeld ? [...y, y[y.length - 1]] : y,
  };
}

/** Numbers of the complete trials that no other one dominates in all objectives. */
export function frontOf(trials: readonly StudyTrial[], directions: readonly Direction[]): Set<number> {
  const scored = trials
    .filter(({ state }) => state === 'complete')
    .map((trial) => ({ number: trial.number, losses: lossesOf(trial, directions) }))
    .filter(({ losses }) => losses.every(Number.isFinite));
  return new Set(paretoFront(scored.map(({ losses }) => losses)).map((row) => scored[row].number));
}

/** The front of two objectives as a staircase: what lies behind it is dominated. */
export function frontLine(trials: readonly StudyTrial[], front: ReadonlySet<number>): PlotLine {
  const points = trials
    .filter(({ number }) => front.has(number))
    .map(({ objectives }) => objectives ?? [])
    .toSorted(([left], [right]) => left - right);
  return { label: 'Pareto front', isStep: true, x: points.map(([x]) => x), y: points.map(([, y]) => y) };
}

/** A metric of the ensemble and of the mean member, over one parameter. */
export interface ComparedScores {
  groups: PointGroup[];
  /** At the best value of each. */
  marks: PlotMark[];
}

const subjects = [
  { label: 'ensemble', value: 'ensemble', error: 'ensembleError', look: { symbol: 'dot' } },
  { label: 'mean member', value: 'meanMember', error: 'meanMemberError', look: { symbol: 'ring', color: 'rank-1' } },
] as const;

/**
 * What the trials scored as ensembles and what their members scored, side by side, with standard errors over splits and
 * seeds.
 */
export function compareScores(
  trials: readonly StudyTrial[],
  metric: string,
  direction: Direction,
  xOf: (trial: StudyTrial) => number,
): ComparedScores {
  const scored = trials.flatMap((trial) => {
    const score = trial.state === 'complete' ? trial.scores.find((one) => one.metric === metric) : undefined;
    const x = xOf(trial);
    return score === undefined || Number.isNaN(x) ? [] : [{ id: trial.number, x, score }];
  });
  if (scored.length === 0) return { groups: [], marks: [] };
  return {
    groups: subjects.map(({ label, value, error, look }) => ({
      label,
      ...look,
      ids: scored.map(({ id }) => id),
      x: scored.map(({ x }) => x),
      y: scored.map(({ score }) => score[value]),
      ...(scored.some(({ score }) => Number.isFinite(score[error])) && {
        errors: scored.map(({ score }) => score[error]),
      }),
    })),
    marks: subjects.map(({ label, value, look }) => {
      const best = scored.reduce((least, one) =>
        lossOf(one.score[value], direction) < lossOf(least.score[value], direction) ? one : least,
      );
      return { x: best.x, label: `${label}: ${formatValue(best.score[value])} at ${formatValue(best.x)}`, ...look };
    }),
  };
}

/** Which trial each device worked on, and when. */
interface DeviceTimeline {
  devices: string[];
  groups: SpanGroup[];
}

/**
 * The runs of trials by device. Times count from the beginning of the first run; a run without an end reaches to
 * `nowMs`.
 * @param nowMs time of the study's last event
 */
export function deviceTimeline(
  trials: readonly StudyTrial[],
  isSelected: (trial: StudyTrial) => boolean,
  nowMs: number,
): DeviceTimeline {
  const runs = trials.flatMap((trial) => trial.runs.map((run) => ({ trial, run })));
  const devices = [...new Set(runs.flatMap(({ run }) => run.devices))].toSorted((left, right) =>
    left.localeCompare(right, 'en', { numeric: true }),
  );
  const beginMs = runs.reduce((least, { run }) => Math.min(least, Date.parse(run.startedAt)), Infinity);
  const spansOf = ({ trial, run }: (typeof runs)[number]): Span[] => {
    const from = (Date.parse(run.startedAt) - beginMs) / 1000;
    const endMs = endOf(trial, run.endedAt, nowMs);
    return run.devices.map((device) => ({
      id: trial.number,
      row: devices.indexOf(device),
      from,
      to: Math.max(from, (endMs - beginMs) / 1000),
    }));
  };
  const groups = states.flatMap((state) =>
    [true, false].map((isFaded) => ({
      label: state,
      ...stateLooks[state],
      isFaded,
      spans: runs.filter(({ trial }) => trial.state === state && isSelected(trial) !== isFaded).flatMap(spansOf),
    })),
  );
  return { devices, groups: groups.filter(({ spans }) => spans.length > 0) };
}

/** A run that ended without a result ended at the latest with its trial. */
function endOf({ state, endedAt }: StudyTrial, runEndedAt: string | null, nowMs: number): number {
  if (runEndedAt !== null) return Date.parse(runEndedAt);
  return state === 'running' || endedAt === null ? nowMs : Date.parse(endedAt);
}

/** More lines would be a grey area, and slow. */
const mostLines = 300;

/** What trials reported on their way. */
interface ReportLines {
  lines: PlotLine[];
  /** The trials whose lines are drawn. */
  shown: StudyTrial[];
  /** How many have reports. */
  reporting: number;
}

/**
 * The reports of the selected trials and, behind them, of the others: one line with gaps for each state. The newest are
 * drawn.
 */
export function reportLines(trials: readonly StudyTrial[], isSelected: (trial: StudyTrial) => boolean): ReportLines {
  const reporting = trials.filter(({ reports }) => reports.length > 0);
  const [selected, others] = [reporting.filter(isSelected), reporting.filter((trial) => !isSelected(trial))];
  const shown = [...others, ...selected].slice(-mostLines).toSorted((left, right) => left.number - right.number);
  const lines = states.flatMap((state) =>
    [true, false].map((isFaded): PlotLine => {
      const own = shown.filter((trial) => trial.state === state && isSelected(trial) !== isFaded);
      return {
        label: state,
        color: stateLooks[state].color,
        isThin: true,
        isFaded,
        x: own.flatMap(({ reports }) => [...reports.map(({ step }) => step), NaN]),
        y: own.flatMap(({ reports }) => [...reports.map(({ value }) => value), NaN]),
      };
    }),
  );
  return { lines: lines.filter(({ x }) => x.length > 0), shown, reporting: reporting.length };
}

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

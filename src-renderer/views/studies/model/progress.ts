import type { StudySummary, StudyTrial } from '../../../../core/protocol/pages/study-views.ts';
import type { Span, SpanGroup } from '../../../charts/spans/lanes.ts';
import type { PlotLine } from '../../../charts/scatter/types.ts';
import { stateLooks, states } from './trial-groups.ts';
import { formatValue, unknownText } from '../../../../core/text/numbers.ts';

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

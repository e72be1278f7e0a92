import type { RunEvent } from '../../../../core/protocol/run/record.ts';
import { settingPaths } from '../../../../core/protocol/run/settings.ts';
import type { ChartAxis, ChartEvent, ChartRange, Column } from '../../../charts/types.ts';
import { nearestIndex } from '../../../charts/columns.ts';
import type { LineColumns } from '../charts/line-columns.ts';

/** Short labels of marks; the event list has the whole text. Kinds that do not affect the curves have no mark. */
const labels: Record<string, (event: RunEvent) => string> = {
  // The first rank announces a joint stop for all ranks.
  'early-stopping': ({ message, rank }) =>
    message.includes(`/member_${rank}_`) ? `rank ${rank}: early stop` : 'early stop',
  'non-finite-loss': () => 'loss not finite',
  failed: () => 'failed',
  changed: ({ data }) => `${settingNames.get(String(data.path)) ?? String(data.path)} ${String(data.to)}`,
  'rank-stopped': () => 'stopped',
  'stop-requested': () => 'stop',
  'checkpoint-requested': ({ data }) => `checkpoint ${String(data.name)}`,
  paused: () => 'paused',
  restarted: ({ data }) => `restarted, rank ${String(data.rank)} was lost`,
  'member-lost': () => 'lost',
  'metrics-lost': ({ data }) => `points lost up to step ${String(data.toStep)}`,
  started: ({ attempt }) => `resumed, attempt ${attempt}`,
};

const settingNames = new Map<string, string>([
  [settingPaths.learningRate, 'learning rate'],
  [settingPaths.patience, 'patience'],
]);

/** Kinds whose labels name the ranks, so that one rank's event is not mistaken for an event of all. */
const kindsOfRanks = new Set(['changed', 'rank-stopped', 'non-finite-loss', 'member-lost']);

interface MarkedStep {
  event: RunEvent;
  step: number;
  ranks: number[];
}

/**
 * Marks of the events that have a step. Ranks with the same event share a mark at the step of the
 * first of them.
 *
 * @param rankCount of the run: a mark of all ranks names none
 */
export function eventMarks(
  events: readonly RunEvent[],
  { rankCount, stepsPerEpoch, startMs }: { rankCount: number; stepsPerEpoch: number | null; startMs: number },
): ChartEvent[] {
  return gather(standing(events)).map(({ event, step, ranks }) => {
    const atEpoch = stepsPerEpoch === null ? event.epoch : step / stepsPerEpoch;
    const time = (Date.parse(event.time) - startMs) / 1000;
    return { x: { step, epoch: atEpoch, time }, label: labelOf(event, ranks, rankCount) };
  });
}

/** Without the events that a resume or restart undid: those after the step from which it continued. */
function standing(events: readonly RunEvent[]): RunEvent[] {
  const starts = events.flatMap(({ kind, attempt, step }) =>
    (kind === 'started' || kind === 'restarted') && step !== null ? { attempt, step } : [],
  );
  return events.filter(
    ({ attempt, step }) => step === null || starts.every((start) => start.attempt <= attempt || step <= start.step),
  );
}

function gather(events: readonly RunEvent[]): MarkedStep[] {
  const marked: MarkedStep[] = [];
  for (const event of events) {
    const { kind, step, rank } = event;
    if (step === null || !(kind in labels)) continue;
    const known = marked.find((mark) => isSame(mark, event));
    const mark = known ?? { event, step, ranks: [] };
    mark.step = Math.min(mark.step, step);
    if (rank !== null) mark.ranks.push(rank);
    if (known === undefined) marked.push(mark);
  }
  return marked;
}

/** Ranks that are not in step apply one change at different steps. It is another change once a rank repeats it. */
function isSame({ event, step, ranks }: MarkedStep, other: RunEvent): boolean {
  if (event.kind !== other.kind || event.attempt !== other.attempt) return false;
  if (!kindsOfRanks.has(event.kind)) return step === other.step && event.message === other.message;
  const isNew = other.rank !== null && !ranks.includes(other.rank);
  return isNew && JSON.stringify(event.data) === JSON.stringify(other.data);
}

function labelOf(event: RunEvent, ranks: readonly number[], rankCount: number): string {
  const label = labels[event.kind](event);
  if (!kindsOfRanks.has(event.kind) || ranks.length === rankCount) return label;
  const sorted = [...new Set(ranks)].sort((a, b) => a - b).join(', ');
  return `rank ${sorted}: ${label}`;
}

/** Converts between times and places on an axis that may count steps or epochs, by the line with the most points. */
export class Timeline {
  readonly #axis: ChartAxis;
  /** Its columns for the axis and for the time. */
  readonly #line: { x: Column; time: Column; length: number } | null;

  constructor(axis: ChartAxis, lines: readonly Pick<LineColumns, 'x' | 'length'>[]) {
    this.#axis = axis;
    const timed = lines.flatMap(({ x, length }) =>
      x.time === null ? [] : [{ x: x[axis] ?? x.time, time: x.time, length }],
    );
    this.#line = timed.toSorted((left, right) => right.length - left.length).at(0) ?? null;
  }

  /** Seconds since the run's start at a place on the axis; null without a line. */
  secondsAt(x: number): number | null {
    if (this.#axis === 'time') return x;
    const line = this.#line;
    return line === null ? null : line.time[nearestIndex(line.x, line.length, x)];
  }

  /** The place on the axis that the run had reached at a time; null without a line. */
  xAt(seconds: number): number | null {
    if (this.#axis === 'time') return seconds;
    const line = this.#line;
    return line === null ? null : line.x[nearestIndex(line.time, line.length, seconds)];
  }

  /** The part of the run that the charts show, in seconds: all of it unless they are zoomed in. */
  range(zoom: ChartRange | null, endSeconds: number): ChartRange {
    const whole = { from: 0, to: endSeconds || 1 };
    if (zoom === null) return whole;
    const [from, to] = [this.secondsAt(zoom.from), this.secondsAt(zoom.to)];
    return from !== null && to !== null && to > from ? { from, to } : whole;
  }
}

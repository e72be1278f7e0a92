import type { RankView, RunView } from '../../../../core/protocol/pages/run-views.ts';
import { ownSummary, type RunEvent, type RunRecord } from '../../../../core/protocol/run/record.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';

/** A moment of a run with a known step and time. */
export interface TimeAnchor {
  step: number;
  /** Milliseconds since 1970. */
  timeMs: number;
}

/**
 * The times at which a run reached steps, from its record and events (each checkpoint is one), because metrics on disk
 * have no times. Steps and times ascend: for steps that a resumed run repeats, or that ranks reach at different times,
 * the first time counts.
 *
 * @param now the current position of a running run; null for a run that has ended
 */
function timeAnchors(record: RunRecord, events: readonly RunEvent[], now: TimeAnchor | null): TimeAnchor[] {
  const start = { step: 0, timeMs: startMs(record) };
  const seen = events.flatMap(({ step, time }) => (step === null ? [] : [{ step, timeMs: Date.parse(time) }]));
  const { endedAt } = record;
  const summary = ownSummary(record);
  const end = summary === null || endedAt === null ? now : { step: summary.steps, timeMs: Date.parse(endedAt) };
  const sorted = [start, ...seen, ...(end === null ? [] : [end])].sort((left, right) => left.timeMs - right.timeMs);
  const rising: TimeAnchor[] = [];
  for (const anchor of sorted)
    if (rising.length === 0 || anchor.step > rising[rising.length - 1].step) rising.push(anchor);
  return rising;
}

/** The anchors of a run now: a running one is at the step of its furthest rank. */
export function anchorsOf({ record, events, ranks }: RunView): TimeAnchor[] {
  const step = Math.max(0, ...ranks.map((rank) => rank.step));
  return timeAnchors(record, events, record.status === 'running' ? { step, timeMs: Date.now() } : null);
}

/** Milliseconds since 1970 at a step, interpolated between the anchors; beyond the last anchor, its time. */
export function timeMsAt(step: number, anchors: readonly TimeAnchor[]): number {
  const next = anchors.findIndex((anchor) => anchor.step >= step);
  if (next === -1) return anchors[anchors.length - 1].timeMs;
  if (next === 0) return anchors[0].timeMs;
  const [before, after] = [anchors[next - 1], anchors[next]];
  const share = (step - before.step) / (after.step - before.step);
  return before.timeMs + share * (after.timeMs - before.timeMs);
}

/** Milliseconds since 1970 at which the first attempt started. */
export function startMs({ attempts, createdAt }: RunRecord): number {
  return Date.parse(attempts[0]?.startedAt ?? createdAt);
}

/** Long enough to contain a few evaluations. */
const windowMs = 60_000;
/** A shorter time gives no reliable forecast. */
const shortestWindowMs = 1_000;

/**
 * The longest time that a run will still train, in ms (an early stop ends it sooner); null while unknown. Assumes that
 * ranks of later waves take as long as those of this one.
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
function slowestRank(ranks: readonly RankView[]): RankView | null {
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

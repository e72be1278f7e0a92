import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { ownSummary, type RunEvent, type RunRecord } from '../../../../core/protocol/run/record.ts';

/** A moment of a run with a known step and time. */
export interface TimeAnchor {
  step: number;
  /** Milliseconds since 1970. */
  timeMs: number;
}

/**
 * The times at which a run reached steps, from its record and events (each checkpoint is one), because metrics on disk have no times.
 * Steps and times ascend: for steps that a resumed run repeats, or that ranks reach at different times, the first time counts.
 *
 * @param now the current position of a running run; null for a run that has ended
 */
export function timeAnchors(record: RunRecord, events: readonly RunEvent[], now: TimeAnchor | null): TimeAnchor[] {
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

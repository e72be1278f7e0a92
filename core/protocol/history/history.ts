import { leavesOf } from '../../options/index.ts';
import { type Attempt, configOfAttempt, type RunEvent, type RunOrigin, type RunRecord } from '../run/record.ts';

/** An option that an attempt changed. */
interface ConfigChange {
  path: string;
  /** Undefined where the option did not exist. */
  from: unknown;
  to: unknown;
}

/** An attempt of a run beside the one before it. */
export interface AttemptHistory {
  attempt: Attempt;
  /** Options that differ from those of the attempt before. */
  changes: ConfigChange[];
  /** Whether the project's source differs from that of the attempt before. */
  hasNewSource: boolean;
  /** The message of the event with which it ended; null while it trains. */
  ending: string | null;
}

const endings: ReadonlySet<string> = new Set(['finished', 'stopped', 'failed', 'interrupted', 'lost', 'folder-lost']);

/** The attempts of a run in order: what each changed, and why it ended. */
export function attemptHistory(
  record: Pick<RunRecord, 'attempts' | 'config' | 'error'>,
  events: readonly RunEvent[],
): AttemptHistory[] {
  return record.attempts.map((attempt, index) => {
    const before = index === 0 ? null : record.attempts[index - 1];
    const isLast = index === record.attempts.length - 1;
    const told = events.findLast((event) => event.attempt === attempt.attempt && endings.has(event.kind));
    const failure = isLast && attempt.endedAt !== null ? (record.error?.message ?? null) : null;
    return {
      attempt,
      changes: before === null ? [] : changesBetween(record, before, attempt),
      hasNewSource: before?.sourceHash !== undefined && before.sourceHash !== attempt.sourceHash,
      ending: failure ?? told?.message ?? null,
    };
  });
}

function changesBetween(record: Pick<RunRecord, 'config'>, before: Attempt, attempt: Attempt): ConfigChange[] {
  const [from, to] = [configOfAttempt(record, before), configOfAttempt(record, attempt)];
  const [old, now] = [new Map(leavesOf(from)), new Map(leavesOf(to))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, from: old.get(path), to: now.get(path) }))
    .filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
}

/**
 * How long a run has trained, in ms: the sum of its attempts. The time between an interruption and the resume does not
 * count; a pause within an attempt does.
 *
 * @param nowMs the present time in ms since 1970, for an attempt that still trains
 */
export function trainingTimeMs({ attempts }: Pick<RunRecord, 'attempts'>, nowMs: number): number {
  return attempts.reduce((sum, attempt) => sum + lengthMs(attempt, nowMs), 0);
}

function lengthMs({ startedAt, endedAt }: Pick<Attempt, 'startedAt' | 'endedAt'>, nowMs: number): number {
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}

/** A saved point of a run at which a fork can begin. */
export interface ForkPoint extends Pick<RunOrigin, 'kind' | 'epoch' | 'step' | 'attempt'> {
  /** `round-40`, `ensemble-best`, `attempt-1/final`. */
  name: string;
  savedAt: string;
}

/** Which point a user asks for. Epochs count from 0. */
export type ForkChoice = { by: 'last' | 'best' } | { by: 'epoch'; epoch: number } | { by: 'name'; name: string };

/**
 * The point that a user asks for. Of several at the same place a state comes first, because it continues exactly, then
 * one of the run's own files before those that an attempt left. `last` is the newest state, or where there is none the
 * newest checkpoint.
 * @throws Error with the points that there are
 */
export function chooseForkPoint(run: string, points: readonly ForkPoint[], choice: ForkChoice): ForkPoint {
  const isOwn = ({ name }: ForkPoint): boolean => !name.includes('/');
  const ranked = points.toSorted(
    (a, b) => Number(b.kind === 'state') - Number(a.kind === 'state') || Number(isOwn(b)) - Number(isOwn(a)),
  );
  const found = findPoint(ranked, choice);
  if (found !== undefined) return found;
  const names = points.map(({ name, epoch }) => `${name} (epoch ${epoch + 1})`).join(', ');
  const there = points.length === 0 ? 'It has saved nothing that all members share.' : `It has: ${names}.`;
  throw new Error(`The run ${run} has ${describeMissing(choice)} to fork from. ${there}`);
}

function findPoint(ranked: readonly ForkPoint[], choice: ForkChoice): ForkPoint | undefined {
  switch (choice.by) {
    case 'name':
      return ranked.find(({ name }) => name === choice.name);
    case 'epoch':
      return ranked.find(({ epoch }) => epoch === choice.epoch);
    case 'best': {
      const best = ranked.find(({ name }) => name === 'ensemble-best');
      return best && ranked.find(({ step, attempt }) => step === best.step && attempt === best.attempt);
    }
    case 'last': {
      const own = ranked.filter(({ name }) => !name.includes('/'));
      const states = own.filter(({ kind }) => kind === 'state');
      const candidates = states.length > 0 ? states : own;
      return candidates.toSorted((a, b) => b.step - a.step).at(0);
    }
  }
}

function describeMissing(choice: ForkChoice): string {
  if (choice.by === 'epoch') return `no state or checkpoint of epoch ${choice.epoch + 1}`;
  if (choice.by === 'name') return `no state or checkpoint "${choice.name}" that all members share`;
  return choice.by === 'best' ? 'no checkpoint ensemble-best' : 'no state or checkpoint';
}

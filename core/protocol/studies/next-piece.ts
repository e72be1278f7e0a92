import { nextWork, type Work as RungWork } from '../../studies/pruners/next-work.ts';
import { isSpent, suggest } from '../../studies/samplers/index.ts';
import { fromUnit } from '../../studies/space/domain.ts';
import { assign, orderSpace, type Assignment } from '../../studies/space/space.ts';
import type { Trial } from '../../studies/trial.ts';
import type { Study } from './study.ts';
import type { StudyLog, WorkGroup } from './study-log.ts';

export type PieceOfWork = { work: number; number: number; group?: WorkGroup } & (
  { kind: 'begin'; values: Assignment; isEnqueued: boolean; until: number | null } | { kind: 'resume'; until: number }
);

/** What a free process does next. `wait`: a piece of work must end first; `done`: there is nothing more to begin. */
export type Piece = PieceOfWork | { kind: 'wait' } | { kind: 'done' };

/**
 * The next piece of work of a study. Piece k knows the results of pieces 0 to k - P, where P is the study's `parallel`,
 * and of the others only that they run. So it is the same whichever of the pieces under way ends first, and however
 * often the study was interrupted. Where a rung must be full before the next choice, piece k knows the results of as
 * few more pieces as it needs, in their order.
 *
 * With several trials in a worker, the pieces that begin together know the same results, and P / `trialsPerWorker`
 * groups are under way at a time.
 */
export function nextPiece(study: Study, log: StudyLog): Piece {
  const work = log.works.length;
  const another = pieceOfGroup(study, log);
  if (another !== null) return another;
  for (let known = leastKnown(study, log); known <= work; known++) {
    if (known > 0 && log.works.slice(0, known).some(({ end }) => end === null)) return { kind: 'wait' };
    const piece = choose(study, log, viewOf(log, known));
    if (piece !== null) return study.trialsPerWorker === 1 ? piece : { ...piece, group: { first: work, known } };
  }
  return { kind: 'done' };
}

/** Another piece of the newest group, which has not begun or was interrupted; null where that is whole. */
function pieceOfGroup(study: Study, log: StudyLog): PieceOfWork | null {
  const group = log.works.at(-1)?.group ?? null;
  if (group === null || log.works.length - group.first >= study.trialsPerWorker) return null;
  if (log.works.slice(group.first).every(({ end }) => end !== null)) return null;
  const piece = choose(study, log, viewOf(log, group.known));
  return piece === null ? null : { ...piece, group };
}

/** How many pieces must have ended before a new group may begin. */
function leastKnown({ parallel, trialsPerWorker }: Study, { works }: StudyLog): number {
  const firsts = [...new Set(works.map(({ number, group }) => group?.first ?? number))];
  const running = Math.max(1, Math.floor(parallel / trialsPerWorker));
  return firsts.length < running ? 0 : (firsts.at(firsts.length - running + 1) ?? works.length);
}

/**
 * The trials that a piece of work may know when it decides whether to stop: those that {@link nextPiece} knew when it
 * chose the piece by the number of works under way alone.
 */
export function trialsKnownTo(study: Study, log: StudyLog, work: number): Trial[] {
  return viewOf(log, log.works.at(work)?.group?.known ?? Math.max(0, work - study.parallel + 1));
}

/** The trials as they are known while the works from `known` on run. */
function viewOf(log: StudyLog, known: number): Trial[] {
  const last = new Map<number, number>();
  const reports = new Map<number, Trial['reports']>();
  for (const { number, trial, reports: own } of log.works) {
    last.set(trial, number);
    if (number < known) reports.set(trial, [...(reports.get(trial) ?? []), ...own]);
  }
  return log.trials.map(({ number, values }) => {
    const work = last.get(number) ?? 0;
    const end = work < known ? log.works[work].end : null;
    const { state, objectives } = end ?? { state: 'running' as const, objectives: null };
    return { number, state, values, objectives, reports: reports.get(number) ?? [] };
  });
}

/** Null if what is known does not suffice, or no trial is left to begin. */
function choose(study: Study, log: StudyLog, trials: readonly Trial[]): PieceOfWork | null {
  const work = log.works.length;
  const { pruner, objectives } = study;
  const [{ direction }] = objectives;
  const rungs: RungWork =
    'maximumResource' in pruner
      ? nextWork(pruner, trials, direction, { isLast: hasTriedAll(study, log, trials) })
      : { kind: 'begin', number: trials.length, untilStep: Infinity };
  if (rungs.kind === 'wait') return null;
  const until = Number.isFinite(rungs.untilStep) ? rungs.untilStep : null;
  if (rungs.kind === 'resume') return { kind: 'resume', work, number: rungs.number, until: rungs.untilStep };
  if (log.left === 0) return null;
  const values = valuesOf(study, log, trials);
  return values === null ? null : { kind: 'begin', work, number: trials.length, ...values, until };
}

/** Whether no configuration is left to begin with: trials have had all that the sampler can suggest. */
export function hasTriedAll({ sampler, space }: Study, { enqueued }: StudyLog, trials: readonly Trial[]): boolean {
  return enqueued.length === 0 && isSpent(sampler, orderSpace(space), trials);
}

/** Enqueued values come first. What they leave open is the sampler's, or the middle of the parameter. */
function valuesOf(
  study: Study,
  { enqueued }: StudyLog,
  trials: readonly Trial[],
): { values: Assignment; isEnqueued: boolean } | null {
  const space = orderSpace(study.space);
  const directions = study.objectives.map(({ direction }) => direction);
  const suggested = suggest(study.sampler, { space, directions, seed: study.seed, trials, number: trials.length });
  if (enqueued.length === 0) return suggested === null ? null : { values: suggested, isEnqueued: false };
  const [given] = enqueued;
  const values = assign(space, ({ path, domain }) => given[path] ?? suggested?.[path] ?? fromUnit(domain, 0.5));
  return { values, isEnqueued: true };
}

import { lossOf, type Direction, type Trial } from '../trial.ts';
import type { RungPruner } from './settings.ts';

/** What a free device does next: continue with a paused trial, begin a new one, or wait until a rung is full. */
export type Work =
  | { kind: 'resume'; number: number; untilStep: number }
  | { kind: 'begin'; number: number; untilStep: number }
  | { kind: 'wait' };

/**
 * The next piece of work of a study with rungs, where every trial pauses when it has reached its `untilStep`. A rung's
 * paused trials continue from their state, so none is stopped too early for good. `asha` resumes a trial once it is
 * in the best 1/η of those that reached its rung so far; `halving` and `hyperband` do so when all trials of the rung
 * have arrived.
 *
 * @param trials all trials so far; failed ones leave their rung, and a step counts as reached once a report has at
 * least that step
 * @param isLast whether no trial can begin any more, so that a rung is full with those that are there
 */
export function nextWork(
  pruner: RungPruner,
  trials: readonly Trial[],
  direction: Direction,
  { isLast = false } = {},
): Work {
  const brackets = bracketsOf(pruner);
  const number = trials.reduce((next, trial) => Math.max(next, trial.number + 1), 0);
  const coming = placeOf(number, brackets);
  const groups = Map.groupBy(trials, (trial) => {
    const { bracket, round } = placeOf(trial.number, brackets);
    return round * brackets.length + bracket;
  });
  for (const [key, group] of [...groups].toSorted(([left], [right]) => left - right)) {
    const bracket = brackets[key % brackets.length];
    const isOpen = pruner.kind === 'asha' || isLast || group.length === bracket.trials;
    const hasEnded = isLast && group.every(({ state }) => state !== 'running');
    const least = pruner.kind === 'asha' && !hasEnded ? 0 : 1;
    const promoted = isOpen ? findPromoted(pruner, bracket, { group, least }, direction) : null;
    if (promoted !== null) return promoted;
  }
  const isBusy = [...groups].some(
    ([key, group]) =>
      key < coming.round * brackets.length + coming.bracket && group.some(({ state }) => state === 'running'),
  );
  // Successive halving is one round after the other: the next begins when no trial of this one runs.
  if (pruner.kind === 'halving' && isBusy) return { kind: 'wait' };
  return { kind: 'begin', number, untilStep: brackets[coming.bracket].rungs[0] };
}

/**
 * The trial to resume, of the highest rung that has one: of the best 1/η of those that reached it.
 * @param among the trials of the bracket, and how many of a rung go on at least: a full one sends one, also when others
 * failed
 */
function findPromoted(
  pruner: RungPruner,
  { rungs }: Bracket,
  { group, least }: { group: readonly Trial[]; least: number },
  direction: Direction,
): Work | null {
  const shareOf = (count: number): number => Math.max(Math.floor(count / pruner.reductionFactor), least);
  const alive = group.filter(({ state }) => state !== 'failed');
  for (let rung = rungs.length - 2; rung >= 0; rung--) {
    const arrived = alive.filter((trial) => lossAt(trial, rungs[rung], direction) !== null);
    const expected = rung === 0 ? alive.length : shareOf(countAt(alive, rungs, rung - 1, direction));
    if (pruner.kind !== 'asha' && arrived.length < expected) continue;
    const ranked = arrived.toSorted(
      (left, right) => compareLosses(left, right, rungs[rung], direction) || left.number - right.number,
    );
    const share = shareOf(arrived.length);
    const next = ranked
      .slice(0, share)
      .find((trial) => trial.state === 'paused' && isAt(trial, rungs, rung, direction));
    if (next !== undefined) return { kind: 'resume', number: next.number, untilStep: rungs[rung + 1] };
  }
  return null;
}

function countAt(trials: readonly Trial[], rungs: readonly number[], rung: number, direction: Direction): number {
  return trials.filter((trial) => lossAt(trial, rungs[rung], direction) !== null).length;
}

/** Whether this rung is the highest that the trial has reached. */
function isAt(trial: Trial, rungs: readonly number[], rung: number, direction: Direction): boolean {
  return rungs.findLastIndex((step) => lossAt(trial, step, direction) !== null) === rung;
}

function compareLosses(left: Trial, right: Trial, step: number, direction: Direction): number {
  const [one, other] = [lossAt(left, step, direction) ?? Infinity, lossAt(right, step, direction) ?? Infinity];
  return one === other ? 0 : one - other;
}

/** The loss at the first report with at least `step`, or null before. */
function lossAt({ reports }: Trial, step: number, direction: Direction): number | null {
  const later = reports.filter((report) => report.step >= step);
  if (later.length === 0) return null;
  const first = later.reduce((least, report) => (report.step < least.step ? report : least));
  return lossOf(first.value, direction);
}

/** Trials that begin at one rung: a round of successive halving. */
interface Bracket {
  /** Trials that begin. */
  trials: number;
  /** Steps at which trials pause, ascending; the last is a whole trial. */
  rungs: readonly number[];
}

/**
 * The brackets that a pruner runs in turn. Hyperband has s_max + 1 of them, s_max = ⌊log_η(R / r)⌋, with ⌈(s_max + 1)
 * η^s / (s + 1)⌉ trials that begin with R η^-s steps, for s from s_max down to 0.
 *
 * Source: Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", 2016
 * (successive halving); Li et al., "Hyperband", 2018; Li et al., "A system for massively parallel hyperparameter
 * tuning", 2020 (ASHA).
 */
export function bracketsOf(pruner: RungPruner): Bracket[] {
  const { minimumResource, maximumResource, reductionFactor } = pruner;
  // log(243) / log(3) is below 5 in binary.
  const deepest = Math.floor(Math.log(maximumResource / minimumResource) / Math.log(reductionFactor) + 1e-9);
  if (pruner.kind !== 'hyperband') {
    const trials = pruner.kind === 'halving' ? pruner.trials : Infinity;
    return [{ trials, rungs: rungsFrom(Math.max(deepest, 0), pruner) }];
  }
  return Array.from({ length: Math.max(deepest, 0) + 1 }, (_, index) => {
    const depth = deepest - index;
    const trials = Math.ceil(((deepest + 1) * reductionFactor ** depth) / (depth + 1));
    return { trials, rungs: rungsFrom(depth, pruner) };
  });
}

/** The last `depth` + 1 rungs, each rounded to whole steps. */
function rungsFrom(depth: number, { maximumResource, reductionFactor }: RungPruner): number[] {
  return Array.from({ length: depth + 1 }, (_, rung) =>
    Math.max(1, Math.round(maximumResource / reductionFactor ** (depth - rung))),
  );
}

/** Where a trial belongs: brackets follow each other and begin again after the last. */
function placeOf(number: number, brackets: readonly Bracket[]): { bracket: number; round: number } {
  const whole = brackets.reduce((sum, { trials }) => sum + trials, 0);
  if (whole === Infinity) return { bracket: 0, round: 0 };
  let rest = number % whole;
  const bracket = brackets.findIndex(({ trials }) => {
    rest -= trials;
    return rest < 0;
  });
  return { bracket, round: Math.floor(number / whole) };
}

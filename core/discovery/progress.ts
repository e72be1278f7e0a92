import type { ArmChoice, Search, SearchGoal, SearchLine } from './search.ts';
import { armsOf } from './search.ts';

/** How far a search is: what its lines amount to. */
export interface SearchProgress {
  /** Null before the search has begun. */
  start: readonly number[] | null;
  /** Labels of all arms by candidate, in the order in which they came. */
  labels: ReadonlyMap<number, number>;
  /** The choices of each arm, by arm, in the order of the rounds. */
  choices: ReadonlyMap<string, readonly ArmChoice[]>;
}

/** @throws Error for lines that do not follow each other */
export function progressOf(
  search: Pick<Search, 'acquisition' | 'beside'>,
  lines: readonly SearchLine[],
): SearchProgress {
  let start: readonly number[] | null = null;
  const labels = new Map<number, number>();
  const choices = new Map<string, ArmChoice[]>(armsOf(search).map((arm) => [arm, []]));
  for (const line of lines) {
    if (line.type === 'start') start = line.indices;
    else if (line.type === 'labels') line.indices.forEach((index, i) => labels.set(index, line.values[i]));
    else {
      const own = choices.get(line.arm);
      if (own === undefined || line.round !== own.length + 1) {
        throw new Error(
          `rounds.jsonl has round ${line.round} of ${line.arm} after round ${own?.length ?? 0}: it was ` +
            'changed. Restore it from a copy, or start another search.',
        );
      }
      own.push(line);
    }
  }
  return { start, labels, choices };
}

/** The candidates that an arm has chosen, in their order: the start, then its rounds. */
export function chosenBy({ start, choices }: SearchProgress, arm: string): number[] {
  return [...(start ?? []), ...(choices.get(arm) ?? []).flatMap(({ indices }) => indices)];
}

/** Candidates of a list that have no label yet, each once. */
export function unlabelled({ labels }: Pick<SearchProgress, 'labels'>, indices: readonly number[]): number[] {
  return [...new Set(indices)].filter((index) => !labels.has(index));
}

/** Whether a search says what a hit is. */
export function hasHits(goal: SearchGoal): boolean {
  return goal.kind === 'class' || goal.threshold !== null;
}

/** Whether a label is a hit; false where no threshold says what one is. */
export function isHit(goal: SearchGoal, label: number): boolean {
  if (goal.kind === 'class') return label === goal.label;
  if (goal.threshold === null) return false;
  return goal.kind === 'maximize' ? label >= goal.threshold : label <= goal.threshold;
}

/** The best of some labels, larger is better; null where the search is for a class. -Infinity without labels. */
export function bestLabel(goal: SearchGoal, labels: readonly number[]): number | null {
  if (goal.kind === 'class') return null;
  return labels.reduce((best, label) => Math.max(best, goal.kind === 'maximize' ? label : -label), -Infinity);
}

/** The hits of an arm after each of its labels, shape `[L]`; candidates that have no label yet are left out. */
export function hitsOf({ goal }: Pick<Search, 'goal'>, progress: SearchProgress, arm: string): Int32Array {
  const found = chosenBy(progress, arm).flatMap((index) => {
    const label = progress.labels.get(index);
    return label === undefined ? [] : [isHit(goal, label)];
  });
  return hitsFound(found);
}

/**
 * Weights of labels in the loss: n / (K n_c) for a label of class c, with n labels of K classes, so that each class
 * weighs the same, as scikit-learn's `class_weight='balanced'`. Classes without a label do not count.
 */
export function balancedWeights(labels: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return labels.map((label) => labels.length / (counts.size * (counts.get(label) ?? 1)));
}

/** How well a search finds hits. Legend: N candidates in the pool, H hits among them, n labels. */

/**
 * The hits among the first 1, 2, ..., L labels, shape `[L]`.
 * @param isHit of each label, in the order in which they were found
 */
export function hitsFound(isHit: readonly boolean[]): Int32Array {
  let found = 0;
  return Int32Array.from(isHit, (own) => (found += Number(own)));
}

/**
 * The hits that a search which knew them would have after `labels` labels, of which the first `started` gave
 * `hitsAtStart`.
 */
export function idealHits(labels: number, { started, hitsAtStart, hits }: HitsOfPool): number {
  return Math.min(hits, hitsAtStart + Math.max(0, labels - started));
}

/**
 * The hits that labels at random give in the mean, after the same start: the remaining hits in proportion to the labels
 * among the remaining candidates.
 */
export function expectedRandomHits(labels: number, { candidates, started, hitsAtStart, hits }: HitsOfPool): number {
  const share = candidates === started ? 0 : Math.max(0, labels - started) / (candidates - started);
  return hitsAtStart + (hits - hitsAtStart) * share;
}

export interface HitsOfPool {
  /** N. */
  candidates: number;
  /** H. */
  hits: number;
  /** Labels before the first choice. */
  started: number;
  /** Hits among them. */
  hitsAtStart: number;
}

/**
 * The enrichment factor: the share of hits among labels, over their share in the pool, (h/n) / (H/N). 1 is what random
 * labels give; NaN without labels or hits. Source: Pearlman and Charifson, "Improved scoring of ligand-protein
 * interactions using OWFEG free energy grids", J. Med. Chem. 2001.
 */
export function enrichmentFactor(
  found: number,
  labels: number,
  { hits, candidates }: Pick<HitsOfPool, 'hits' | 'candidates'>,
): number {
  return found / labels / (hits / candidates);
}

import { hitsFound } from './hits.ts';
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
          `rounds.jsonl has round ${line.round} of ${line.arm} after round ${own?.length ?? 0}: it was changed. Restore it from a copy, or start another search.`,
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
 * Weights of labels in the loss: n / (K n_c) for a label of class c, with n labels of K classes, so that each class weighs the same, as scikit-learn's
 * `class_weight='balanced'`. Classes without a label do not count.
 */
export function balancedWeights(labels: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return labels.map((label) => labels.length / (counts.size * (counts.get(label) ?? 1)));
}

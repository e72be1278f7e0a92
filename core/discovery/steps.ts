import type { Generator } from '../random/generator.ts';
import { chosenBy, type SearchProgress, unlabelled } from './progress.ts';
import { type ArmChoice, armsOf, type Search } from './search.ts';

/** The candidates with which a search begins, ascending: `count` of N at random. */
export function drawStart(candidates: number, count: number, generator: Generator): Int32Array {
  return generator.permutation(candidates).slice(0, count).sort();
}

/**
 * The same with the classes in the proportions of the pool, and at least one candidate of each class: a start without a
 * hit teaches nothing of them. Shares are rounded by largest remainders.
 * @param labels class of each candidate, shape `[N]`
 * @throws RangeError if there are more classes than candidates to draw
 */
export function drawStratifiedStart(labels: ArrayLike<number>, count: number, generator: Generator): Int32Array {
  const order = generator.permutation(labels.length);
  const byClass = new Map<number, number[]>();
  for (const candidate of order) {
    const own = byClass.get(labels[candidate]);
    if (own === undefined) byClass.set(labels[candidate], [candidate]);
    else own.push(candidate);
  }
  const classes = [...byClass].toSorted(([a], [b]) => a - b).map(([, members]) => members);
  const sizes = shares(
    classes.map((members) => members.length),
    count,
  );
  return Int32Array.from(classes.flatMap((members, at) => members.slice(0, sizes[at]))).sort();
}

/** `count` divided in the proportion of `sizes`, at least 1 each. */
function shares(sizes: readonly number[], count: number): number[] {
  if (count < sizes.length) {
    throw new RangeError(
      `A start of ${count} cannot have one candidate of each of ${sizes.length} classes. Begin with at least ` +
        `${sizes.length}.`,
    );
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const exact = sizes.map((size) => (size / total) * count);
  const whole = exact.map((share) => Math.max(1, Math.floor(share)));
  const left = (at: number): number => exact[at] - whole[at];
  const sum = (): number => whole.reduce((all, own) => all + own, 0);
  while (sum() < count) whole[extreme(sizes, (at) => (whole[at] < sizes[at] ? left(at) : -Infinity))]++;
  while (sum() > count) whole[extreme(sizes, (at) => (whole[at] > 1 ? -left(at) : -Infinity))]--;
  return whole;
}

function extreme(sizes: readonly number[], value: (at: number) => number): number {
  return sizes.reduce((best, _, at) => (value(at) > value(best) ? at : best), 0);
}

/** What a search does next: it draws its start, has candidates labelled, or lets an arm choose in a round from 1. */
export type SearchStep =
  | { kind: 'start' }
  /** What was chosen, or drawn as the start (`choice` is then null), and has no labels yet. */
  | { kind: 'label'; name: string; indices: readonly number[]; choice: ArmChoice | null }
  | { kind: 'round'; arm: string; round: number };

/**
 * The first step that is not done: the start, then each round of each arm. It depends on the search and its lines
 * alone, so that a search which was interrupted at any moment continues with the same steps.
 * @param candidates number of candidates in the pool; an arm that has chosen all of them has no more rounds
 * @param asked names of what a person was asked for and has not answered; other arms still choose in that round
 * @returns null once all rounds are done, or nothing can be done before a person answers
 */
export function nextStep(
  search: Pick<Search, 'acquisition' | 'beside' | 'rounds'>,
  progress: SearchProgress,
  { candidates, asked }: { candidates: number; asked: { has(name: string): boolean } },
): SearchStep | null {
  const { start, choices } = progress;
  if (start === null) return { kind: 'start' };
  const isOpen = (indices: readonly number[]): boolean => unlabelled(progress, indices).length > 0;
  if (asked.has('start')) return null;
  if (isOpen(start)) return { kind: 'label', name: 'start', indices: start, choice: null };
  for (let round = 1; round <= search.rounds; round++) {
    for (const arm of armsOf(search)) {
      const choice = choices.get(arm)?.[round - 1];
      const name = roundName(arm, round);
      if (choice === undefined && chosenBy(progress, arm).length < candidates) return { kind: 'round', arm, round };
      if (choice !== undefined && isOpen(choice.indices) && !asked.has(name))
        return { kind: 'label', name, indices: choice.indices, choice };
    }
    if (armsOf(search).some((arm) => asked.has(roundName(arm, round)))) return null;
  }
  return null;
}

/** Names what an arm has labelled in a round. */
export function roundName(arm: string, round: number): string {
  return `${arm}-${round}`;
}

import { chosenBy, type SearchProgress, unlabelled } from './progress.ts';
import { type ArmChoice, armsOf, type Search } from './search.ts';

/** What a search does next: it draws its start, has candidates labelled, or lets an arm choose in a round from 1. */
export type SearchStep =
  | { kind: 'start' }
  /** What was chosen, or drawn as the start (`choice` is then null), and has no labels yet. */
  | { kind: 'label'; name: string; indices: readonly number[]; choice: ArmChoice | null }
  | { kind: 'round'; arm: string; round: number };

/**
 * The first step that is not done: the start, then each round of each arm. It is a function of the search and its lines,
 * so that a search which was interrupted at any moment continues with the same steps.
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

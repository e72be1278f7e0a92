import type { RunOrigin } from '../run/record.ts';

/** A saved point of a run at which a fork can begin. */
export interface ForkPoint extends Pick<RunOrigin, 'kind' | 'epoch' | 'step' | 'attempt'> {
  /** `round-40`, `ensemble-best`, `attempt-1/final`. */
  name: string;
  savedAt: string;
}

/** Which point a user asks for. Epochs count from 0. */
export type ForkChoice = { by: 'last' | 'best' } | { by: 'epoch'; epoch: number } | { by: 'name'; name: string };

/**
 * The point that a user asks for. Of several at the same place a state comes first, because it continues exactly, then one of the run's own
 * files before those that an attempt left. `last` is the newest state, or where there is none the newest checkpoint.
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

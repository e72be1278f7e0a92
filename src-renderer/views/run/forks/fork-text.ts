import type { ForkPoint } from '../../../../core/protocol/history/fork.ts';

/** A position of a run in the units that pages show: epochs count from 1. */
export function positionText({ epoch, step }: Pick<ForkPoint, 'epoch' | 'step'>): string {
  return `after epoch ${epoch + 1} (step ${step})`;
}

/** Where a fork of a point begins, and what it takes over. */
export function beginningOf(point: ForkPoint): string {
  if (point.kind === 'state') {
    return `It continues exactly from the state ${point.name}, ${positionText(point)}.`;
  }
  return (
    `It takes the weights of ${point.name}, ${positionText(point)}, and continues with epoch ${point.epoch + 2}. ` +
    'Optimizer, callbacks and strategy start anew.'
  );
}

/** A place where a fork can begin, under all names that its files have. */
export interface ForkPlace extends Omit<ForkPoint, 'name'> {
  /** The first one stands for all. */
  names: string[];
}

/** The points as a list, the newest first; at the same step the state before the weights alone. */
export function forkPlaces(points: readonly ForkPoint[]): ForkPlace[] {
  const same = Map.groupBy(points, ({ attempt, step, kind }) => `${attempt} ${step} ${kind}`);
  return [...same.values()]
    .map(([first, ...others]) => ({ ...first, names: [first, ...others].map(({ name }) => name) }))
    .sort(
      (a, b) => b.attempt - a.attempt || b.step - a.step || Number(b.kind === 'state') - Number(a.kind === 'state'),
    );
}

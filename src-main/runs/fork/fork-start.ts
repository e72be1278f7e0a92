import type { RunOrigin, RunRecord } from '../../../core/protocol/run/record.ts';

type Forked = Pick<RunRecord, 'id' | 'origin' | 'attempts'>;

/** The position at which training goes on after a checkpoint: weights alone cannot continue within an epoch. */
export function positionAfter({ epoch, step }: Pick<RunOrigin, 'epoch' | 'step'>): { epoch: number; step: number } {
  return { epoch: epoch + 1, step };
}

/** The position at which a run that has saved no state yet starts. */
export function startOfRun(record: Forked): { epoch: number; step: number } {
  return forkedAt(record) ?? { epoch: 0, step: 0 };
}

/** The position after the checkpoint that gives the ranks of a forked run their first weights; null for other runs. */
export function forkedAt({ origin }: Forked): { epoch: number; step: number } | null {
  return origin?.kind === 'checkpoint' ? positionAfter(origin) : null;
}

/** @throws Error for a fork of a state, which cannot start without one */
export function refuseWithoutState({ id, origin }: Forked): void {
  if (origin?.kind !== 'state') return;
  throw new Error(
    `The run ${id} is a fork of the state ${origin.point} of ${origin.run}, and its copy in the folder state/ is missing. ` +
      `Restore it from a copy, or fork again: tutti fork ${origin.run}`,
  );
}

import type { Assignment } from '../../../core/studies/space/space.ts';

/** The loss of a trial without training. */
export function lossOf({ weightDecay, units }: Assignment): number {
  return Math.abs(Math.log(Number(weightDecay))) + Number(units) / 64;
}

import { tf } from '../tensorflow/tf.ts';
import type { Member } from '../member/member.ts';
import type { StackedVariable } from './stacked-variable.ts';

/**
 * Applies the members' constraints to rows of stacked weights.
 * @param isUpdated whether a member has just been updated: the others' rows stay as they are
 */
export function constrainStacked(
  weights: readonly StackedVariable[],
  members: readonly Member[],
  isUpdated: readonly boolean[],
): void {
  for (const weight of weights) {
    const constraints = members.map((member, m) => member.constraints.get(weight.sources[m]) ?? null);
    if (constraints.every((constraint) => constraint === null)) continue;
    tf.tidy(() => {
      const rows = weight.rows().map((row, m) => (isUpdated[m] ? (constraints[m]?.apply(row) ?? row) : row));
      weight.variable.assign(tf.reshape(tf.stack(rows), weight.variable.shape));
    });
  }
}

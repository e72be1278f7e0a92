import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Gradient } from '../../member/member.ts';
import type { NormedUpdate, RuleOptimizer } from '../../optimizers/optimizer.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import { valuesOf } from '../../tensorflow/tensor-values.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import { sumOfSquares } from '../data-parallel/gradient-exchange.ts';
import type { WeightSlice } from './weight-slice.ts';

/** A rank's slice of the weights, with its optimizer. */
interface NormedSlice {
  group: ProcessGroup;
  slice: WeightSlice;
  optimizer: RuleOptimizer;
  /** V, the number of the model's trained tensors. */
  tensorCount: number;
  byNorms: NormedUpdate;
}

/**
 * Updates a rank's slice by a rule that needs norms of whole tensors: one all-reduce adds up Σ θ² and Σ u² of each tensor's parts, `[2V]` in
 * float64. All ranks call it. Disposes of the gradients.
 * @param settings one per part
 */
export async function updateByNorms(
  { group, slice, optimizer, tensorCount, byNorms }: NormedSlice,
  gradients: readonly Gradient[],
  settings: readonly UpdateSettings[],
): Promise<void> {
  const directions = optimizer.directions(gradients, settings);
  tf.dispose(gradients.filter((gradient) => gradient !== null));
  const squares = new Float64Array(2 * tensorCount);
  for (const [i, { tensor }] of slice.segments.entries()) {
    const direction = directions[i];
    if (direction === null) continue;
    squares[2 * tensor] += sumOfSquares(await valuesOf(slice.variables[i]));
    squares[2 * tensor + 1] += sumOfSquares(await valuesOf(direction));
  }
  const sums = await group.allReduce(squares, 'sum');
  for (const [i, { tensor }] of slice.segments.entries()) {
    const [ofVariable, ofDirection] = sums.slice(2 * tensor, 2 * tensor + 2).map(Math.sqrt);
    const rate = settings[i].learningRate * byNorms.ratio(ofVariable, ofDirection);
    moveAlong(slice, i, directions[i], rate);
  }
}

/** θ ← θ − rate·u */
function moveAlong({ variables }: WeightSlice, i: number, direction: Tensor | null, rate: number): void {
  if (direction === null) return;
  tf.tidy(() => variables[i].assign(tf.sub(variables[i], tf.mul(direction, rate))));
  direction.dispose();
}

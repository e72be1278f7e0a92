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
 * Updates a rank's slice by a rule that needs norms of whole tensors: one all-reduce adds up Σ θ² and Σ u² of each
 * tensor's parts, `[2V]` in float64. All ranks call it. Disposes of the gradients.
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
    const own = slice.open(i);
    squares[2 * tensor] += sumOfSquares(await valuesOf(own));
    slice.discard(own);
    squares[2 * tensor + 1] += sumOfSquares(await valuesOf(direction));
  }
  const sums = await group.allReduce(squares, 'sum');
  for (const [i, { tensor }] of slice.segments.entries()) {
    const [ofVariable, ofDirection] = sums.slice(2 * tensor, 2 * tensor + 2).map(Math.sqrt);
    const rate = settings[i].learningRate * byNorms.ratio(ofVariable, ofDirection);
    moveAlong(slice, i, { direction: directions[i], rate, step: optimizer.steps[i] });
  }
}

/** θ ← θ − rate·u, the array's update number `step`. */
function moveAlong(
  slice: WeightSlice,
  i: number,
  { direction, rate, step }: { direction: Tensor | null; rate: number; step: number },
): void {
  if (direction === null) return;
  const own = slice.open(i);
  tf.tidy(() => own.assign(tf.sub(own, tf.mul(direction, rate))));
  slice.close(i, own, step);
  direction.dispose();
}

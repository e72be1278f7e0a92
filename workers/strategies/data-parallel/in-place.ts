import { isAloneInMemory, viewOf } from '../../tensorflow/tensor-values.ts';
import { Parts } from '../../collectives/parts.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import type { Gradient, Member } from '../../member/member.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import type { StepOutcome } from '../strategy.ts';
import { divideByWeight } from './gradient-exchange.ts';
import { decodeTotals, encodeTotals } from './local-gradients.ts';

/** A rank's gradients of one whole batch, in the backend's memory. */
export interface WholeBatch {
  loss: number;
  gradients: Gradient[];
}

/**
 * Exchanges the gradients of a whole batch, whose weight is 1, in the backend's memory, without the flat array of
 * `GradientAccumulator`: that saves two copies. To the other ranks it is the same collective, with the same totals at
 * its end, so each rank may choose by its batch. Disposes of the gradients.
 */
export async function updateInPlace(
  group: ProcessGroup,
  member: Member,
  { loss: ownLoss, gradients }: WholeBatch,
  settings: UpdateSettings,
): Promise<StepOutcome> {
  const own = gradients.map((gradient) =>
    gradient === null || isAloneInMemory(gradient) ? gradient : moved(gradient),
  );
  const unreached = own.map((gradient, i) => (gradient === null ? new Float32Array(member.variables[i].size) : null));
  const isReachedHere = own.map((gradient) => gradient !== null);
  const totals = Float32Array.from(encodeTotals({ weight: 1, weightedLoss: ownLoss, isReached: isReachedHere }));
  const length = member.variables.reduce((sum, { size }) => sum + size, 0);
  const views = () =>
    own.map((gradient, i) => (gradient === null ? null : viewOf(gradient)) ?? unreached[i] ?? missing(i));
  await group.allReduceParts(new Parts(length + totals.length, () => [...views(), totals]), 'float32', 'mean');
  const { weight, weightedLoss, isReached } = decodeTotals(totals);
  for (const view of views()) divideByWeight(view, weight);
  const loss = weightedLoss / weight;
  const updated = Number.isFinite(loss);
  const means = own.map((gradient, i) => gradient ?? (isReached[i] ? ofOtherRanks(member, i, unreached[i]) : null));
  if (updated) member.applyGradients(means, settings);
  for (const gradient of means) gradient?.dispose();
  return { loss, updated };
}

/** The mean gradient of a variable that only other ranks' losses depend on. */
function ofOtherRanks({ variables }: Member, i: number, mean: Float32Array | null): Tensor {
  return tf.tensor(mean ?? missing(i), variables[i].shape);
}

/** A copy in separate memory: writing to it must not change another tensor. */
function moved(gradient: Tensor): Tensor {
  const copy = tf.mul(gradient, 1);
  gradient.dispose();
  return copy;
}

function missing(i: number): never {
  throw new Error(`Gradient ${i} is not in the backend's memory: it cannot be exchanged in place.`);
}

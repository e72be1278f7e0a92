import { decodeBfloat16, encodeBfloat16 } from '../../../core/protocol/wire/bfloat16.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { decodeTotals, encodeTotals, type LocalGradients, type Totals } from './local-gradients.ts';

/** How gradients travel: in float32, or rounded to bfloat16 at half the bytes. */
export type Compression = 'none' | 'bfloat16';

/** The result of an exchange, the same on all ranks. */
export interface MeanGradients {
  /** Mean over all samples of the step, shape `[P]`, or this rank's slice of it. */
  flat: Float32Array<ArrayBuffer>;
  /** Mean over all samples; not finite if any rank's loss is not finite. */
  loss: number;
  /** For each variable, whether the loss of at least one rank's samples depends on it. Only those are updated. */
  isReached: readonly boolean[];
}

/**
 * Averages all ranks' gradients in one all-reduce: Σ_r w_r·g_r / Σ_r w_r, weighted by a rank's samples, so that uneven batches
 * count like one large batch. The result replaces the local gradients. The totals travel at the end of the bucket; with
 * `bfloat16`, which is too coarse for them, they have a separate collective at the same time.
 */
export async function allReduceGradients(
  group: ProcessGroup,
  local: LocalGradients,
  compression: Compression,
): Promise<MeanGradients> {
  if (compression === 'bfloat16') {
    const [halves, totals] = await Promise.all([
      group.allReduce(encodeBfloat16(local.flat), 'sum'),
      reduceTotals(group, local, compression),
    ]);
    return meanOf(decodeBfloat16(halves), totals);
  }
  const { flat, bucket } = local;
  const { length } = flat;
  bucket.set(encodeTotals(local), length);
  await group.allReduce(bucket, 'mean', bucket);
  return meanOf(flat, bucket.subarray(length));
}

/** Like {@link allReduceGradients}, but a rank gets only its slice. The length must be a multiple of the number of ranks. */
export async function reduceScatterGradients(
  group: ProcessGroup,
  local: LocalGradients,
  compression: Compression,
): Promise<MeanGradients> {
  const [slice, totals] = await Promise.all([
    reduceScatterFlat(group, local.flat, compression),
    reduceTotals(group, local, compression),
  ]);
  return meanOf(slice, totals);
}

/** This rank's slice of Σ_r w_r·g_r, or of that divided by the number of ranks where nothing is compressed, as {@link reduceTotals} does. */
export async function reduceScatterFlat(
  group: ProcessGroup,
  flat: Float32Array<ArrayBuffer>,
  compression: Compression,
): Promise<Float32Array<ArrayBuffer>> {
  if (compression === 'none') return await group.reduceScatter(flat, 'mean');
  return decodeBfloat16(await group.reduceScatter(encodeBfloat16(flat), 'sum'));
}

/** The totals of all ranks. */
export async function reduceTotals(
  group: ProcessGroup,
  totals: Totals,
  compression: Compression,
): Promise<Float64Array> {
  return await group.allReduce(Float64Array.from(encodeTotals(totals)), compression === 'none' ? 'mean' : 'sum');
}

/** Limits each element to ±maximum. */
export function clipByValue(flat: Float32Array, maximum: number): void {
  for (let i = 0; i < flat.length; i++) flat[i] = Math.min(maximum, Math.max(-maximum, flat[i]));
}

/**
 * Scales gradients down to a norm of at most `maximum`: g ← g · min(1, maximum/(‖g‖ + 10⁻⁶)), as PyTorch's `clip_grad_norm_` does.
 *
 * @param squares Σ g² over all scalars of the model, of which `flat` may be a slice
 */
export function clipByNorm(flat: Float32Array, squares: number, maximum: number): void {
  const factor = maximum / (Math.sqrt(squares) + 1e-6);
  if (factor >= 1) return;
  for (let i = 0; i < flat.length; i++) flat[i] *= factor;
}

/** Σ x², in float64. */
export function sumOfSquares(values: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * values[i];
  return sum;
}

/** @param sum sums or means over the ranks. Means over whole batches, whose mean weight is 1, are the result already. */
export function meanOf(sum: Float32Array<ArrayBuffer>, reduced: Float32Array | Float64Array): MeanGradients {
  const { weight, weightedLoss, isReached } = decodeTotals(reduced);
  // Masks count no target of the step.
  if (weight === 0) return { flat: sum, loss: 0, isReached };
  divideByWeight(sum, weight);
  return { flat: sum, loss: weightedLoss / weight, isReached };
}

/** values ← values / weight */
export function divideByWeight(values: Float32Array, weight: number): void {
  if (weight === 1) return;
  // For powers of two, the most frequent weights, a product has the quotient's bits, in half the time.
  const factor = 1 / weight;
  if (Number.isInteger(Math.log2(weight))) for (let i = 0; i < values.length; i++) values[i] *= factor;
  else for (let i = 0; i < values.length; i++) values[i] /= weight;
}

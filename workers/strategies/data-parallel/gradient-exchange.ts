import {
  addOneBit,
  decodeOneBit,
  encodeOneBit,
  encodeWithFeedback,
  type GradientCodec,
} from '../../../core/compression/one-bit.ts';
import { decodeBfloat16, encodeBfloat16 } from '../../../core/protocol/wire/arrays.ts';
import { valuesOf } from '../../tensorflow/tensor-values.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import { decodeTotals, encodeTotals, type LocalGradients, type Totals } from './local-gradients.ts';

/** How gradients travel: in float32, rounded to bfloat16, or as one bit and a share of two means. */
export interface Encoding {
  compression: 'none' | 'bfloat16' | '1-bit';
  /** Whether a step adds what the encoding of the last one left out; with `1-bit` it always does. */
  errorFeedback: boolean;
}

/** The result of an exchange, the same on all ranks. */
export interface MeanGradients {
  /** Mean over all samples of the step, shape `[P]`, or this rank's slice of it. */
  flat: Float32Array<ArrayBuffer>;
  /** Mean over all samples; not finite if any rank's loss is not finite. */
  loss: number;
  /** For each variable, whether the loss of at least one rank's samples depends on it. Only those are updated. */
  isReached: readonly boolean[];
}

const oneBit = { encode: encodeOneBit, decode: decodeOneBit };
const bfloat16 = { encode: encodeBfloat16, decode: (halves: Uint16Array) => decodeBfloat16(halves) };

/**
 * The exchange of gradients between the ranks: Σ_r w_r·g_r / Σ_r w_r, weighted by a rank's samples, so that uneven
 * batches count like one large batch.
 */
export class GradientExchange {
  /** What encodings left out so far, one variable for each unit; none without error feedback. */
  readonly residuals: ReadonlyMap<string, Variable>;
  readonly #group: ProcessGroup;
  readonly #compression: Encoding['compression'];

  /** @param lengths of the arrays (units) that a step exchanges */
  constructor(group: ProcessGroup, { compression, errorFeedback }: Encoding, lengths: readonly number[]) {
    this.#group = group;
    this.#compression = compression;
    const isFedBack = compression === '1-bit' || (errorFeedback && compression !== 'none');
    this.residuals = new Map(
      isFedBack
        ? lengths.map((length, i) => [`residual.${i}`, tf.tidy(() => tf.variable(tf.zeros([length]), false))])
        : [],
    );
  }

  /**
   * Whether arrays travel as they are, so that a call is sent at once: the order of calls is then that of the program
   * on all ranks.
   */
  get isPlain(): boolean {
    return this.#compression === 'none';
  }

  /**
   * Averages all ranks' gradients in one all-reduce. The result replaces the local gradients. The totals travel at the
   * end of the bucket; where it is compressed, which is too coarse for them, they have a separate collective at the
   * same time.
   */
  async allReduce(local: LocalGradients): Promise<MeanGradients> {
    const { flat, bucket } = local;
    const { length } = flat;
    if (this.#compression !== 'none') {
      const [sum, totals] = await Promise.all([this.#sum(flat, 0, 0, length), this.reduceTotals(local)]);
      return meanOf(sum, totals);
    }
    bucket.set(encodeTotals(local), length);
    await this.#group.allReduce(bucket, 'mean', bucket);
    return meanOf(flat, bucket.subarray(length));
  }

  /**
   * This rank's slice of Σ_r w_r·g_r of a unit, or of that divided by the number of ranks where nothing is compressed,
   * as with {@link reduceTotals}. The length must be a multiple of the number of ranks.
   * @param into may take the result
   */
  async reduceScatter(
    flat: Float32Array<ArrayBuffer>,
    unit: number,
    into: Float32Array<ArrayBuffer>,
  ): Promise<Float32Array<ArrayBuffer>> {
    if (this.#compression === 'none') return await this.#group.reduceScatter(flat, 'mean', into);
    const size = flat.length / this.#group.worldSize;
    const start = this.#group.ranks.indexOf(this.#group.rank) * size;
    return await this.#sum(flat, unit, start, start + size);
  }

  /** The totals of all ranks. */
  async reduceTotals(totals: Totals): Promise<Float64Array> {
    const operation = this.#compression === 'none' ? 'mean' : 'sum';
    return await this.#group.allReduce(Float64Array.from(encodeTotals(totals)), operation);
  }

  /** The sum over the ranks of what their compressed arrays stand for, from element `from` to `to`. */
  async #sum(
    flat: Float32Array<ArrayBuffer>,
    unit: number,
    from: number,
    to: number,
  ): Promise<Float32Array<ArrayBuffer>> {
    if (this.#compression === '1-bit') {
      // Sums of bits are no bits, so every rank gets all arrays, at a thirtieth of the bytes.
      const encoded = await this.#group.allGather(await this.#encode(flat, unit, oneBit));
      const sum = new Float32Array(to - from);
      for (const bytes of encoded) addOneBit(bytes, flat.length, from, sum);
      return sum;
    }
    const halves = await this.#encode(flat, unit, bfloat16);
    const isWhole = to - from === flat.length;
    return decodeBfloat16(
      await (isWhole ? this.#group.allReduce(halves, 'sum') : this.#group.reduceScatter(halves, 'sum')),
    );
  }

  async #encode<Encoded>(flat: Float32Array, unit: number, codec: GradientCodec<Encoded>): Promise<Encoded> {
    const variable = this.residuals.get(`residual.${unit}`);
    if (variable === undefined) return codec.encode(flat);
    // States may hold the tensor of the last step.
    const residual = (await valuesOf(variable)).slice();
    const encoded = encodeWithFeedback(flat, residual, codec);
    tf.tidy(() => variable.assign(tf.tensor1d(residual)));
    return encoded;
  }
}

/** Limits each element to ±maximum. */
export function clipByValue(flat: Float32Array, maximum: number): void {
  for (let i = 0; i < flat.length; i++) flat[i] = Math.min(maximum, Math.max(-maximum, flat[i]));
}

/**
 * Scales gradients down to a norm of at most `maximum`: g ← g · min(1, maximum/(‖g‖ + 10⁻⁶)), as PyTorch's
 * `clip_grad_norm_` does.
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

/**
 * @param sum sums or means over the ranks. Means over whole batches, whose mean weight is 1, are the result already.
 */
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
  // A product has the quotient's bits for powers of two, the most frequent weights, in half the time.
  const factor = 1 / weight;
  if (Number.isInteger(Math.log2(weight))) for (let i = 0; i < values.length; i++) values[i] *= factor;
  else for (let i = 0; i < values.length; i++) values[i] /= weight;
}

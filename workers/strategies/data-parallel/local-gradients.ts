import type { Batch } from '../../data/dataset.ts';
import { sliceExtras } from '../../data/fields.ts';
import type { Gradient, Member, StepPosition } from '../../member/member.ts';
import { FlatLayout } from './flat-layout.ts';

/** One rank's gradients of its share of a step's samples. */
export interface LocalGradients {
  /**
   * Sum over the parts of n/B · gradient, for parts of n samples and B `batchSize` (with a mask, n counts only what it
   * counts); shape `[P]`, padded with zeros to the accumulator's length. Valid until the next step.
   */
  flat: Float32Array<ArrayBuffer>;
  /** `flat` with `totalsLength` more elements for the totals of the exchange. */
  bucket: Float32Array<ArrayBuffer>;
  /** Sum of n/B. */
  weight: number;
  /** Sum of n/B · loss. */
  weightedLoss: number;
  /** For each variable, in the member's order, whether the loss of at least one of these samples depends on it. */
  isReached: readonly boolean[];
}

/**
 * Computes one rank's gradients in one flat array. A step's samples go through the model in parts of at most
 * `batchSize`, one after the other (gradient accumulation), weighted by their samples.
 */
export class GradientAccumulator {
  readonly layout: FlatLayout;
  /** Length of the flat array: P, or the next multiple of `multipleOf`. */
  readonly length: number;
  readonly #batchSize: number;
  readonly #bucket: Float32Array<ArrayBuffer>;
  readonly #flat: Float32Array<ArrayBuffer>;

  constructor(member: Member, batchSize: number, multipleOf = 1) {
    this.layout = new FlatLayout(member.variables);
    this.length = Math.ceil(this.layout.length / multipleOf) * multipleOf;
    this.#batchSize = batchSize;
    this.#bucket = new Float32Array(this.length + totalsLength(member.variables.length));
    this.#flat = this.#bucket.subarray(0, this.length);
  }

  async compute(member: Member, batch: Batch, position: StepPosition): Promise<LocalGradients> {
    const [flat, bucket] = [this.#flat, this.#bucket];
    let weight = 0;
    let weightedLoss = 0;
    const isReached = member.variables.map(() => false);
    for (const { batch: part, counted } of partsOf(batch, this.#batchSize)) {
      const share = counted / this.#batchSize;
      // Its loss depends on no weight.
      if (share === 0) continue;
      const { loss, gradients } = await member.lossAndGradients(part, position);
      // The first part overwrites the array, which saves an addition for all weights.
      if (weight === 0) await this.layout.readGradients(gradients, share, flat);
      else await this.layout.addGradients(gradients, share, flat);
      gradients.forEach((gradient, i) => {
        if (gradient !== null) isReached[i] = true;
        gradient?.dispose();
      });
      weight += share;
      weightedLoss += share * loss;
    }
    // Nothing was written if there are no samples, and the padding may hold values of an exchange.
    flat.fill(0, weight === 0 ? 0 : this.layout.length);
    return { flat, bucket, weight, weightedLoss, isReached };
  }

  /**
   * Gradients for an optimizer, null for variables that no rank's loss depends on. They are valid as long as `flat` is;
   * the caller disposes of them.
   */
  toGradients(flat: Float32Array, isReached: readonly boolean[]): Gradient[] {
    return this.layout.toTensors(flat).map((tensor, i) => {
      if (isReached[i]) return tensor;
      tensor.dispose();
      return null;
    });
  }
}

/** A part of a batch. */
export interface BatchPart {
  batch: Batch;
  /**
   * What it counts for: its samples; with a mask, the share of its targets that the mask counts, times the samples. The
   * mean of the parts' losses with these weights is the loss of the whole batch. Of mixed samples λ·own + (1 −
   * λ)·partners', as the losses of both are means over the whole batch.
   */
  counted: number;
}

/** Splits a batch into parts of `size` samples; the last one may be smaller. */
export function* partsOf(batch: Batch, size: number): Generator<BatchPart> {
  const [samples, ...shape] = batch.featureShape;
  const [, ...targetShape] = batch.targetShape;
  const width = batch.features.length / samples;
  const targetWidth = batch.targets.length / samples;
  for (let start = 0; start < samples; start += size) {
    const end = Math.min(start + size, samples);
    const part: Batch = {
      features: batch.features.subarray(start * width, end * width),
      featureShape: [end - start, ...shape],
      targets: batch.targets.subarray(start * targetWidth, end * targetWidth),
      targetShape: [end - start, ...targetShape],
      ...sliceExtras(batch, samples, start, end),
    };
    const counted = countedSamples(end - start, part.mask);
    yield batch.mixed === undefined
      ? { batch: part, counted }
      : mixedPart(part, counted, partOfMixed(batch.mixed, samples, start, end));
  }
}

function countedSamples(samples: number, mask?: Uint8Array): number {
  if (mask === undefined) return samples;
  return (mask.reduce((sum, value) => sum + value, 0) * samples) / mask.length;
}

type Mixed = Required<Batch>['mixed'];

/** Gives the part a share by which both of its losses count as they do in the loss of the whole batch. */
function mixedPart(part: Batch, own: number, { share, partner }: Mixed): BatchPart {
  if (partner.mask === undefined) return { batch: { ...part, mixed: { share, partner } }, counted: own };
  const [ofOwn, ofPartners] = [share * own, (1 - share) * countedSamples(part.featureShape[0], partner.mask)];
  const counted = ofOwn + ofPartners;
  return { batch: { ...part, mixed: { share: counted === 0 ? share : ofOwn / counted, partner } }, counted };
}

function partOfMixed({ share, partner }: Mixed, samples: number, start: number, end: number): Mixed {
  const width = partner.targets.length / samples;
  const targets = partner.targets.subarray(start * width, end * width);
  return { share, partner: { targets, ...sliceExtras(partner, samples, start, end) } };
}

/**
 * Totals that travel with the gradients of V variables, shape `[2 + V]`: the weight of a rank's samples, their weighted
 * loss, and for each variable 1 if this rank's loss depends on it, else 0. A sum or mean over the ranks is 0 only if no
 * rank's loss depends on the variable. So all ranks agree which variables a step updates, like one rank with all
 * samples (PyTorch skips a parameter whose gradient is None). Zeros and ones are exact in every float type.
 */
export interface Totals {
  weight: number;
  weightedLoss: number;
  isReached: readonly boolean[];
}

/** 2 + V */
export function totalsLength(variables: number): number {
  return 2 + variables;
}

/** Numbers to reduce over the ranks, shape `[2 + V]`. */
export function encodeTotals({ weight, weightedLoss, isReached }: Totals): number[] {
  return [weight, weightedLoss, ...isReached.map(Number)];
}

/** Reads the result of a reduction (sum or mean) over the ranks. */
export function decodeTotals(reduced: Float32Array | Float64Array): Totals {
  const [weight, weightedLoss] = reduced;
  return { weight, weightedLoss, isReached: Array.from(reduced.subarray(2), (count) => count > 0) };
}

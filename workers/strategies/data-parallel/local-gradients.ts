import type { Batch } from '../../data/dataset.ts';
import type { Gradient, Member, StepPosition } from '../../training/member.ts';
import { FlatLayout } from './flat-layout.ts';

/** What one rank makes of its part of a step's samples. */
export interface LocalGradients {
  /**
   * Sum over the parts of n/B · gradient, for parts of n samples and B `batchSize`; shape `[P]`, padded with zeros to the accumulator's
   * length. Valid until the next step.
   */
  flat: Float32Array<ArrayBuffer>;
  /** Sum of n/B. */
  weight: number;
  /** Sum of n/B · loss. */
  weightedLoss: number;
}

/**
 * Gradients of one rank in one flat array. A step's samples go through the model in parts of at most `batchSize`, one after the
 * other (gradient accumulation); smaller parts count by their samples, none for nothing.
 */
export class GradientAccumulator {
  readonly layout: FlatLayout;
  /** Of the flat array: P, or the next multiple of what was asked for. */
  readonly length: number;
  readonly #batchSize: number;
  #flat: Float32Array<ArrayBuffer>;
  /** Which variables the loss depended on when there were samples last. */
  #isReached: boolean[];

  constructor(member: Member, batchSize: number, multipleOf = 1) {
    this.layout = new FlatLayout(member.variables);
    this.length = Math.ceil(this.layout.length / multipleOf) * multipleOf;
    this.#batchSize = batchSize;
    this.#flat = new Float32Array(this.length);
    this.#isReached = member.variables.map(() => true);
  }

  async compute(member: Member, batch: Batch, position: StepPosition): Promise<LocalGradients> {
    const flat = this.#flat.fill(0);
    let weight = 0;
    let weightedLoss = 0;
    for (const part of partsOf(batch, this.#batchSize)) {
      const { loss, gradients } = await member.lossAndGradients(part, position);
      const share = part.featureShape[0] / this.#batchSize;
      await this.layout.addGradients(gradients, share, flat);
      this.#isReached = gradients.map((gradient) => gradient !== null);
      for (const gradient of gradients) gradient?.dispose();
      weight += share;
      weightedLoss += share * loss;
    }
    return { flat, weight, weightedLoss };
  }

  /** Gradients as an optimizer takes them; the caller disposes of them. */
  toGradients(flat: Float32Array): Gradient[] {
    return this.layout.toTensors(flat).map((tensor, i) => {
      if (this.#isReached[i]) return tensor;
      tensor.dispose();
      return null;
    });
  }
}

/** A batch in parts of `size` samples, the last one of what is left. */
export function* partsOf(batch: Batch, size: number): Generator<Batch> {
  const [samples, ...shape] = batch.featureShape;
  const [, ...targetShape] = batch.targetShape;
  const width = batch.features.length / samples;
  const targetWidth = batch.targets.length / samples;
  for (let start = 0; start < samples; start += size) {
    const end = Math.min(start + size, samples);
    yield {
      features: batch.features.subarray(start * width, end * width),
      featureShape: [end - start, ...shape],
      targets: batch.targets.subarray(start * targetWidth, end * targetWidth),
      targetShape: [end - start, ...targetShape],
    };
  }
}

import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';
import { Generator } from '../../../core/random/generator.ts';

type LayerArgs = ConstructorParameters<typeof layers.layers.Layer>[0];
type Shape = readonly (number | null)[];

/** Layers whose random mask can be drawn once, and the distribution of its values. */
export const sampledKinds = {
  Dropout: 'bernoulli',
  SpatialDropout1D: 'bernoulli',
  GaussianDropout: 'gaussian',
} as const;

/** What a mask depends on. */
export interface MaskSource {
  /** Of its values: 0 or 1 / (1 − rate), or normal with mean 1 and variance rate / (1 − rate). */
  kind: (typeof sampledKinds)[keyof typeof sampledKinds];
  /** The rate, in (0, 1). */
  rate: number;
  /** Sizes of the mask with the batch; 1 where values share one. Null: those of the input. */
  noiseShape: Shape | null;
  seed: number;
  /** The member, and the position of the layer in its model: each pair has its own stream of random numbers. */
  draw: number;
  layer: number;
}

/**
 * Dropout whose mask is drawn once and belongs to the model: the same for all samples, in each call and on every
 * machine. A model with such masks is a draw from the distribution over networks that dropout trains. Sizes of the
 * input that vary, such as the steps of a sequence, share the mask's values.
 *
 * Source: Gal and Ghahramani, "Dropout as a Bayesian approximation", ICML 2016; masks that all samples share: Kirsch et
 * al., "BatchBALD", NeurIPS 2019 ("consistent MC dropout").
 */
export class SampledDropout extends layers.layers.Layer {
  static readonly className = 'SampledDropout';
  readonly source: MaskSource;
  #mask: { shape: number[]; data: Float32Array } | null = null;

  constructor({ kind, rate, noiseShape, seed, draw, layer, ...args }: MaskSource & LayerArgs) {
    super(args);
    this.supportsMasking = true;
    this.source = { kind, rate, noiseShape, seed, draw, layer };
  }

  /** The mask, shape `[1, ...]`. @throws Error before the layer is part of a model */
  get mask(): { shape: number[]; data: Float32Array } {
    if (this.#mask === null) throw new Error(`Layer "${this.name}" has no mask before it is part of a model.`);
    return this.#mask;
  }

  override build(inputShape: Shape | Shape[]): void {
    const shape = (inputShape.length > 0 && Array.isArray(inputShape[0]) ? inputShape[0] : inputShape) as Shape;
    this.#mask = drawMask(this.source, shape);
    this.built = true;
  }

  override computeOutputShape<S>(inputShape: S): S {
    return inputShape;
  }

  override call(inputs: Tensor | Tensor[]): Tensor {
    const { shape, data } = this.mask;
    return core.tidy(() => core.mul(Array.isArray(inputs) ? inputs[0] : inputs, core.tensor(data, shape)));
  }

  override getConfig() {
    return { ...super.getConfig(), ...this.source, noiseShape: this.source.noiseShape && [...this.source.noiseShape] };
  }
}

/** The mask of a layer, shape `[1, ...]`. @param inputShape with the batch; null where a size varies */
export function drawMask(source: MaskSource, inputShape: Shape): { shape: number[]; data: Float32Array } {
  const { kind, rate, noiseShape, seed, draw, layer } = source;
  const shape = inputShape.map((size, axis) => (axis === 0 || noiseShape?.[axis] === 1 ? 1 : (size ?? 1)));
  const generator = new Generator(seed, `mc-dropout/${draw}/${layer}`);
  const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
  if (kind === 'gaussian') {
    const deviation = Math.sqrt(rate / (1 - rate));
    return { shape, data: data.map(() => 1 + deviation * generator.normal()) };
  }
  return { shape, data: data.map(() => (generator.uniform() < rate ? 0 : 1 / (1 - rate))) };
}

/** Lets models with such layers be built from their descriptions, without the code of a project. */
export function registerSampledDropout(): void {
  core.serialization.registerClass(SampledDropout);
}

import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import { linear, viewOf, type Weight } from '../tensorflow-layers.ts';
import {
  type CallOptions,
  type InnerBatch,
  InnerInputs,
  InnerLayer,
  type LayerArgs,
  type Shape,
  type SharedWeights,
  single,
  singleShape,
} from './inner-layer.ts';
import {
  addKernelAndBias,
  type ConvArgs,
  type DenseArgs,
  type Initializer,
  initializerOf,
  type StockLayer,
  stockLayer,
} from './stock-layer.ts';
import * as layers from '@tensorflow/tfjs-layers';

/** The package exports its initializers, but not their class. */
const InitializerClass = Object.getPrototypeOf(layers.initializers.ones().constructor) as new () => ReturnType<
  typeof layers.initializers.ones
>;

/**
 * Draws −1 and 1 with the same probability.
 *
 * Source: Wen, Tran and Ba, "BatchEnsemble: an alternative approach to efficient ensemble and lifelong learning", ICLR
 * 2020, section 3.1.
 */
export class RandomSign extends InitializerClass {
  static readonly className = 'RandomSign';

  override apply(shape: (number | null)[]): Tensor {
    return core.tidy(() => {
      const uniform = core.randomUniform(shape as number[]);
      return core.sub(core.mul(core.cast(core.greaterEqual(uniform, 0.5), 'float32'), 2), 1);
    });
  }
}

/** How the samples of a batch reach the inner members in training: each member gets all, or its share. */
export type BatchOfMembers = 'repeat' | 'split';

/**
 * Repeats a batch for all inner members: `[B, ...]` to `[M·B, ...]`. In training, `split` leaves it as it is, so that
 * each member has B / M rows.
 */
export class BatchEnsembleInputs extends InnerInputs {
  static readonly className = 'BatchEnsembleInputs';
  readonly training: BatchOfMembers;

  constructor({ training = 'repeat', ...args }: LayerArgs & { members: number; training?: BatchOfMembers }) {
    super(args);
    if (training !== 'repeat' && training !== 'split') {
      throw new RangeError(`training is "${String(training)}": it must be "repeat" or "split".`);
    }
    this.training = training;
  }

  get batch(): InnerBatch {
    const isSplit = this.training === 'split';
    return { rowsPerSample: isSplit ? 1 : this.members, isSplit };
  }

  override computeOutputShape(inputShape: Shape | Shape[]): Shape {
    return [null, ...singleShape(inputShape).slice(1)];
  }

  override call(inputs: Tensor | Tensor[], { training = false }: CallOptions): Tensor {
    const x = single(inputs);
    if (training && this.training === 'split') {
      requireRows(this, x, 'Choose a batchSize that the members divide, with dropLast, or training: "repeat".');
      return x;
    }
    return core.tile(x, [this.members, ...x.shape.slice(1).map(() => 1)]);
  }

  override getConfig() {
    return { ...super.getConfig(), training: this.training };
  }
}

export interface BatchEnsembleOptions {
  members: number;
  /** Initial values of the factors r and s, by default `RandomSign`. */
  factorInitializer?: Initializer | string;
}

/**
 * A dense layer or convolution whose kernel all inner members share, with factors and biases of each: member m has the
 * kernel W ∘ (r_m s_mᵀ). Computed as act(((x ∘ r_m) W) ∘ s_m + b_m), with r `[M, I]`, s `[M, O]` and b `[M, O]` for I
 * input and O output channels.
 *
 * Source: Wen, Tran and Ba, "BatchEnsemble: an alternative approach to efficient ensemble and lifelong learning", ICLR
 * 2020, equations 1 to 5.
 */
abstract class BatchEnsembleLayer extends InnerLayer implements SharedWeights {
  /** The plain layer, which reads the options and computes with the shared kernel. It has no weights of its own. */
  readonly #plain: StockLayer;
  readonly #factorInitializer: Initializer;
  #weights: { kernel: Weight; r: Weight; s: Weight; bias: Weight | null } | null = null;

  constructor(
    kind: 'dense' | 'conv2d',
    { members, factorInitializer = 'RandomSign', ...options }: BatchEnsembleOptions & LayerArgs,
  ) {
    const { name, trainable, batchInputShape, inputShape, batchSize, dtype } = options;
    super({ members, name, trainable, batchInputShape, inputShape, batchSize, dtype });
    this.#plain = stockLayer(kind, { ...options, name: `${this.name}_plain` });
    this.#factorInitializer = initializerOf(factorInitializer);
    this.supportsMasking = this.#plain.supportsMasking;
  }

  /** Shape of the kernel for I input channels. */
  protected abstract kernelShape(channels: number): number[];
  /** Axis of the channels of inputs and outputs. */
  protected abstract channelAxis(rank: number): number;

  override build(inputShape: Shape | Shape[]): void {
    const shape = singleShape(inputShape);
    const channels = shape[this.channelAxis(shape.length)];
    if (channels === null) throw new Error(`Layer "${this.name}" needs to know the number of its input channels.`);
    const kernelShape = this.kernelShape(channels);
    const outputs = kernelShape[kernelShape.length - 1];
    const factors = (name: string, size: number): Weight =>
      this.addWeight(name, [this.members, size], 'float32', this.#factorInitializer);
    const shapes = { kernel: kernelShape, bias: [this.members, outputs] };
    this.#weights = {
      ...addKernelAndBias(this.#plain, this.addWeight.bind(this), shapes),
      r: factors('input_factors', channels),
      s: factors('output_factors', outputs),
    };
    this.built = true;
  }

  override computeOutputShape(inputShape: Shape | Shape[]): Shape {
    return this.#plain.computeOutputShape(singleShape(inputShape) as number[]);
  }

  override call(inputs: Tensor | Tensor[], options: CallOptions): Tensor {
    const x = single(inputs);
    requireRows(this, x, 'Put the inputs() of batchEnsemble before it.');
    return core.tidy(() => {
      const { kernel, r, s, bias } = this.#built;
      const plain = viewOf(this.#plain, { kernel, bias: null, activation: linear });
      const product = plain.call(this.#ofMembers(core.mul, x, r), options);
      const scaled = this.#ofMembers(core.mul, product, s);
      return this.#plain.activation.apply(bias === null ? scaled : this.#ofMembers(core.add, scaled, bias));
    });
  }

  weightsOfMember(member: number): Tensor[] {
    return core.tidy(() => {
      const { kernel, r, s, bias } = this.#built;
      const row = (weight: Weight): Tensor => core.squeeze(core.slice(weight.read(), [member, 0], [1, -1]), [0]);
      const own = core.mul(core.mul(kernel.read(), core.expandDims(row(r), 1)), row(s));
      return bias === null ? [own] : [own, row(bias)];
    });
  }

  override getConfig() {
    const factorInitializer = describe(this.#factorInitializer);
    return { ...this.#plain.getConfig(), ...super.getConfig(), factorInitializer };
  }

  get #built() {
    if (this.#weights === null) throw new Error(`Layer "${this.name}" has no weights before it is part of a model.`);
    return this.#weights;
  }

  /** Combines the rows of each member with its values `[M, C]`, along the channels. */
  #ofMembers(combine: typeof core.mul, x: Tensor, values: Weight): Tensor {
    const axis = this.channelAxis(x.rank);
    const sizeOf = (sizes: number[]): number => sizes.reduce((product, size) => product * size, 1);
    const before = sizeOf(x.shape.slice(0, axis)) / this.members;
    const [channels, after] = [x.shape[axis], sizeOf(x.shape.slice(axis + 1))];
    const rest = after === 1 ? [] : [after];
    const rows = core.reshape(x, [this.members, before, channels, ...rest]);
    const own = core.reshape(values.read(), [this.members, 1, channels, ...rest.map(() => 1)]);
    return core.reshape(combine(rows, own), x.shape);
  }
}

/** `[M·B, ..., I]` to `[M·B, ..., units]`. */
export class BatchEnsembleDense extends BatchEnsembleLayer {
  static readonly className = 'BatchEnsembleDense';
  readonly #units: number;

  constructor(options: DenseArgs & BatchEnsembleOptions) {
    super('dense', options);
    this.#units = options.units;
  }

  protected override kernelShape(channels: number): number[] {
    return [channels, this.#units];
  }

  protected override channelAxis(rank: number): number {
    return rank - 1;
  }
}

/** `[M·B, H, W, I]` to `[M·B, H', W', filters]`; with `channelsFirst` channels come second. */
export class BatchEnsembleConv2D extends BatchEnsembleLayer {
  static readonly className = 'BatchEnsembleConv2D';
  readonly #kernelSize: number[];
  readonly #filters: number;
  readonly #isChannelsFirst: boolean;

  constructor(options: ConvArgs & BatchEnsembleOptions) {
    super('conv2d', options);
    const { kernelSize, filters, dataFormat } = options;
    this.#kernelSize = Array.isArray(kernelSize) ? kernelSize : [kernelSize, kernelSize];
    this.#filters = filters;
    this.#isChannelsFirst = dataFormat === 'channelsFirst';
  }

  protected override kernelShape(channels: number): number[] {
    return [...this.#kernelSize, channels, this.#filters];
  }

  protected override channelAxis(rank: number): number {
    return this.#isChannelsFirst ? 1 : rank - 1;
  }
}

/** @throws RangeError where the rows of a batch cannot be shared evenly by the members */
function requireRows({ name, members }: InnerLayer, { shape: [rows] }: Tensor, remedy: string): void {
  if (rows % members === 0) return;
  throw new RangeError(`Layer "${name}" gets ${rows} rows, which ${members} members cannot share evenly. ${remedy}`);
}

/** Describes an initializer as layers do. */
function describe(initializer: Initializer): { className: string; config: core.serialization.ConfigDict } {
  return { className: initializer.getClassName(), config: initializer.getConfig() };
}

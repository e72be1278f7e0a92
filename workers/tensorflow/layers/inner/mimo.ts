import * as core from '@tensorflow/tfjs-core';
import type { Tensor, Tensor1D } from '@tensorflow/tfjs-core';
import { Generator } from '../../../../core/random/generator.ts';
import { linear, viewOf, type Weight } from '../tensorflow-layers.ts';
import {
  type CallOptions,
  type InnerBatch,
  InnerInputs,
  InnerLayer,
  type LayerArgs,
  requireCount,
  requireShare,
  type Shape,
  type SharedWeights,
  single,
  singleShape,
} from './inner-layer.ts';
import { addKernelAndBias, type DenseArgs, type StockLayer, stockLayer } from './stock-layer.ts';

/** How samples are put together in training. */
export interface MimoBatches {
  members: number;
  /** How often each sample takes part in a batch, R. */
  batchRepetitions?: number;
  /** The share of rows in which all members have the same sample, ρ. */
  inputRepetition?: number;
}

/**
 * Puts M samples side by side, one for each inner member, along the last axis. It returns the rows, and where each
 * member finds each sample:
 *
 * - in training `[B, ..., C]` to `[R·B, ..., M·C]` and positions `[R·B, M]`: each member has every sample R times, in a
 *   random order of its own. In a share ρ of the rows all members have the same sample.
 * - in inference `[B, ..., M·C]`: all members have the same sample. Positions are 0.
 *
 * Source: Havasi, Jenatton, Fort, Liu, Snoek, Lakshminarayanan, Dai and Tran, "Training independent subnetworks for
 * robust prediction", ICLR 2021, section 2 and appendix; the order of the published code (`mimo` of
 * uncertainty-baselines).
 */
export class MimoInputs extends InnerInputs {
  static readonly className = 'MimoInputs';
  readonly batchRepetitions: number;
  readonly inputRepetition: number;

  constructor({ batchRepetitions = 1, inputRepetition = 0, ...args }: LayerArgs & MimoBatches) {
    super(args);
    this.batchRepetitions = requireCount('batchRepetitions', batchRepetitions);
    this.inputRepetition = requireShare('inputRepetition', inputRepetition);
  }

  get batch(): InnerBatch {
    return { rowsPerSample: this.members * this.batchRepetitions, isSplit: false };
  }

  override computeOutputShape(inputShape: Shape | Shape[]): Shape[] {
    const shape = singleShape(inputShape).slice(1);
    const channels = shape[shape.length - 1];
    return [
      [null, ...shape.slice(0, -1), channels === null ? null : channels * this.members],
      [null, this.members],
    ];
  }

  override call(inputs: Tensor | Tensor[], { training = false }: CallOptions): Tensor[] {
    const x = single(inputs);
    return core.tidy(() => {
      const sideBySide = (rows: Tensor[]): Tensor => (rows.length === 1 ? core.clone(rows[0]) : core.concat(rows, -1));
      if (!training) {
        const copies = Array.from({ length: this.members }, () => x);
        return [sideBySide(copies), core.zeros([x.shape[0], this.members], 'int32')];
      }
      const samples = x.shape[0];
      const orders = this.drawOrders(samples);
      const rows = orders.map((order) =>
        core.gather(
          x,
          core.tensor1d(
            order.map((row) => row % samples),
            'int32',
          ),
        ),
      );
      return [
        sideBySide(rows),
        core.transpose(core.stack(orders.map((order) => core.tensor1d(inverseOf(order), 'int32')))),
      ];
    });
  }

  /**
   * For each member the order of the repeated batch: row i holds sample order[i] mod B. It comes from the stream of
   * `Math.random`, as the masks of dropout do.
   * @returns M permutations of 0 to R·B − 1
   */
  protected drawOrders(samples: number): Int32Array[] {
    const generator = new Generator(Math.floor(Math.random() * 2 ** 32), 'mimo');
    const rows = samples * this.batchRepetitions;
    const common = generator.permutation(rows);
    // These rows have another sample for each member.
    const apart = Math.floor(rows * (1 - this.inputRepetition));
    return Array.from({ length: this.members }, () => {
      const order = common.slice();
      generator.permutation(apart).forEach((from, to) => (order[to] = common[from]));
      return order;
    });
  }

  override getConfig() {
    const { batchRepetitions, inputRepetition } = this;
    return { ...super.getConfig(), batchRepetitions, inputRepetition };
  }
}

/** At which position each number stands. */
function inverseOf(order: Int32Array): Int32Array {
  const inverse = new Int32Array(order.length);
  order.forEach((value, position) => (inverse[value] = position));
  return inverse;
}

/**
 * A dense layer with one head for each inner member: features `[B, ..., F]` and the positions of {@link MimoInputs} to
 * `[M·B, ..., units]`. In training the rows of each member are put back into the order of the samples. The kernel
 * `[F, M·units]` holds the heads side by side.
 */
export class MimoHeads extends InnerLayer implements SharedWeights {
  static readonly className = 'MimoHeads';
  /** The plain layer of one head, which reads the options. It has no weights of its own. */
  readonly #plain: StockLayer;
  #weights: { kernel: Weight; bias: Weight | null } | null = null;

  constructor({ members, ...options }: DenseArgs & { members: number }) {
    const { name, trainable } = options;
    super({ members, name, trainable });
    this.#plain = stockLayer('dense', { ...options, name: `${this.name}_plain` });
  }

  override build(inputShape: Shape | Shape[]): void {
    const shape = singleShape(inputShape);
    const features = shape[shape.length - 1] as number;
    this.#weights = addKernelAndBias(this.#plain, this.addWeight.bind(this), {
      kernel: [features, this.members * this.#units],
      bias: [this.members * this.#units],
    });
    this.built = true;
  }

  override computeOutputShape(inputShape: Shape | Shape[]): Shape {
    return [null, ...singleShape(inputShape).slice(1, -1), this.#units];
  }

  override call(inputs: Tensor | Tensor[], options: CallOptions): Tensor {
    if (!Array.isArray(inputs) || inputs.length !== 2) {
      throw new Error(
        `Layer "${this.name}" takes features and the positions that the inputs() of mimo returned, as a list.`,
      );
    }
    const [features, positions] = inputs;
    return core.tidy(() => {
      const { kernel, bias } = this.#built;
      const plain = viewOf(this.#plain, { kernel, bias, activation: linear });
      const y = plain.call(features, options);
      const heads = core.reshape(y, [...y.shape.slice(0, -1), this.members, this.#units]);
      // [B, ..., M, units] to [M, B, ..., units]
      const last = heads.rank - 1;
      const order = [last - 1, ...Array.from({ length: last - 1 }, (_, axis) => axis), last];
      const rows = core.reshape(core.transpose(heads, order), [-1, ...y.shape.slice(1, -1), this.#units]);
      const sorted = options.training === true ? core.gather(rows, this.#rowsOf(positions)) : rows;
      return this.#plain.activation.apply(sorted);
    });
  }

  weightsOfMember(member: number): Tensor[] {
    return core.tidy(() => {
      const { kernel, bias } = this.#built;
      const columns = (weight: Weight, axis: number): Tensor => {
        const x = weight.read();
        const start = x.shape.map((_, at) => (at === axis ? member * this.#units : 0));
        return core.slice(x, start, x.shape.with(axis, this.#units));
      };
      return bias === null ? [columns(kernel, 1)] : [columns(kernel, 1), columns(bias, 0)];
    });
  }

  override getConfig() {
    return { ...this.#plain.getConfig(), ...super.getConfig() };
  }

  get #units(): number {
    return this.#plain.units;
  }

  get #built() {
    if (this.#weights === null) throw new Error(`Layer "${this.name}" has no weights before it is part of a model.`);
    return this.#weights;
  }

  /** Rows in `[M·B, ...]` of each member's samples, in the samples' order: `[M·B]`. */
  #rowsOf(positions: Tensor): Tensor1D {
    const [rows] = positions.shape;
    const first = core.mul(core.range(0, this.members, 1, 'int32'), core.scalar(rows, 'int32'));
    return core.reshape(core.transpose(core.add(core.cast(positions, 'int32'), first)), [-1]);
  }
}

import type { Batch } from '../../data/dataset.ts';
import { LayeredPass, type LayerPlan } from '../../layered/layered-pass.ts';
import type { Member, StepPosition } from '../../member/member.ts';
import { type GradientExchange, type MeanGradients, meanOf } from '../data-parallel/gradient-exchange.ts';
import { type GradientAccumulator, partsOf } from '../data-parallel/local-gradients.ts';
import { sliceLengthOf, type Unit } from './units.ts';
import type { UnitWeights } from './unit-weights.ts';

/** Computes the mean gradient over all ranks' samples of the weights in this rank's slice, shape `[S]`. */
export interface SliceGradients {
  compute(member: Member, batch: Batch, position: StepPosition): Promise<MeanGradients>;
}

/** Stage 1: all gradients first, then one reduce-scatter. */
export class WholeGradients implements SliceGradients {
  readonly #exchange: GradientExchange;
  readonly #accumulator: GradientAccumulator;
  readonly #slice: Float32Array<ArrayBuffer>;

  /** @param length S, of the slice */
  constructor(exchange: GradientExchange, accumulator: GradientAccumulator, length: number) {
    this.#exchange = exchange;
    this.#accumulator = accumulator;
    this.#slice = new Float32Array(length);
  }

  async compute(member: Member, batch: Batch, position: StepPosition): Promise<MeanGradients> {
    const local = await this.#accumulator.compute(member, batch, position);
    const [slice, totals] = await Promise.all([
      this.#exchange.reduceScatter(local.flat, 0, this.#slice),
      this.#exchange.reduceTotals(local),
    ]);
    return meanOf(slice, totals);
  }
}

/** What {@link LayeredGradients} works with. */
export interface LayeredParts {
  exchange: GradientExchange;
  plan: LayerPlan;
  units: readonly Unit[];
  /** Stage 3: the weights, which are released between their uses; null where each rank has them. */
  weights: UnitWeights | null;
  batchSize: number;
  accumulate: number;
}

/**
 * Stages 2 and 3: the backward pass of a layer completes the gradients of its weights, and a reduce-scatter of each
 * unit gives them to their owners, which frees them here. It overlaps with the backward pass of the layers before, one
 * unit at a time. In stage 3, an all-gather before each layer's forward and backward pass gives it its weights.
 *
 * The order of the collectives depends only on the model, never on a rank's samples: a rank without samples makes the
 * same calls. Accumulated parts are exchanged one by one, as a rank has no room for their sum.
 */
export class LayeredGradients implements SliceGradients {
  readonly #parts: LayeredParts;
  readonly #sum: Float32Array<ArrayBuffer>;
  /** The buffers of the unit that travels, and of the next. */
  #buffers: [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>];
  /** This rank's slice of the unit that travels. */
  readonly #received: Float32Array<ArrayBuffer>;
  /** The exchange under way. */
  #travelling: Promise<void> = Promise.resolve();
  /** For each call, the units of its weights, and those whose gradients its backward pass completes. */
  readonly #needed: readonly (readonly Unit[])[];
  readonly #completed: readonly (readonly Unit[])[];

  constructor(parts: LayeredParts) {
    this.#parts = parts;
    const { units, plan } = parts;
    this.#sum = new Float32Array(sliceLengthOf(units));
    this.#received = new Float32Array(Math.max(...units.map(({ sliceLength }) => sliceLength)));
    const longest = Math.max(...units.map(({ length }) => length));
    this.#buffers = [new Float32Array(longest), new Float32Array(longest)];
    this.#needed = plan.calls.map(({ weights }) =>
      units.filter(({ indices }) => indices.some((index) => weights.includes(index))),
    );
    const lastOf = ({ indices }: Unit): number => Math.min(...indices.map((index) => plan.firstUse[index]));
    this.#completed = plan.calls.map((_, call) => units.filter((unit) => lastOf(unit) === call));
  }

  async compute(member: Member, batch: Batch, position: StepPosition): Promise<MeanGradients> {
    const { plan, batchSize, accumulate, exchange } = this.#parts;
    const parts = [...partsOf(batch, batchSize)];
    const totals = { weight: 0, weightedLoss: 0, isReached: member.variables.map(() => false) };
    this.#sum.fill(0);
    for (let i = 0; i < accumulate; i++) {
      const share = i < parts.length ? parts[i].counted / batchSize : 0;
      // The loss depends on no weight if no sample counts.
      const pass = share === 0 ? null : new LayeredPass(plan, member, parts[i].batch, position);
      try {
        totals.weightedLoss += share * (await this.#run(pass, share, totals.isReached));
      } finally {
        pass?.discard();
      }
      totals.weight += share;
    }
    return meanOf(this.#sum, await exchange.reduceTotals(totals));
  }

  /** @returns the loss */
  async #run(pass: LayeredPass | null, share: number, isReached: boolean[]): Promise<number> {
    const last = this.#needed.length - 1;
    for (let call = 0; call <= last; call++) {
      await this.#gather(call);
      pass?.forward(call);
      // The backward pass begins with the last call.
      if (call < last) this.#release(call);
    }
    const loss = (await pass?.loss()) ?? 0;
    for (let call = last; call >= 0; call--) {
      await this.#gather(call);
      pass?.backward(call);
      this.#release(call);
      for (const unit of this.#completed[call]) await this.#exchange(unit, pass, share, isReached);
    }
    await this.#travelling;
    return loss;
  }

  async #gather(call: number): Promise<void> {
    const { weights } = this.#parts;
    if (weights !== null) for (const unit of this.#needed[call]) await weights.gather(unit);
  }

  #release(call: number): void {
    const { weights } = this.#parts;
    if (weights !== null) for (const unit of this.#needed[call]) weights.release(unit);
  }

  /** Adds the mean of all ranks' gradients of a unit to this rank's slice. */
  async #exchange(unit: Unit, pass: LayeredPass | null, share: number, isReached: boolean[]): Promise<void> {
    const { exchange, units, weights } = this.#parts;
    const [buffer, other] = this.#buffers;
    const flat = buffer.subarray(0, unit.length);
    const gradients = unit.indices.map((index) => pass?.take(index) ?? null);
    await unit.layout.readGradients(gradients, share, flat);
    flat.fill(0, unit.layout.length);
    gradients.forEach((gradient, i) => {
      if (gradient !== null) isReached[unit.indices[i]] = true;
      gradient?.dispose();
    });
    await this.#travelling;
    this.#buffers = [other, buffer];
    const add = async (): Promise<void> => {
      const into = this.#received.subarray(0, unit.sliceLength);
      const slice = await exchange.reduceScatter(flat, units.indexOf(unit), into);
      for (let i = 0; i < slice.length; i++) this.#sum[unit.offset + i] += slice[i];
    };
    this.#travelling = add();
    // A pass that fails meanwhile reports its own error.
    this.#travelling.catch(() => undefined);
    if (!exchange.isPlain || weights !== null) await this.#travelling;
  }
}

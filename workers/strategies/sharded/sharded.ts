import { tmpdir } from 'node:os';
import type { OptimizerConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import { canReleaseValues } from '../../backends/released-values.ts';
import { LayerPlan } from '../../layered/layered-pass.ts';
import type { Member, StepPosition } from '../../member/member.ts';
import type { Position } from '../../member/report.ts';
import { seedForRank } from '../../../core/random/generator.ts';
import { createOptimizer, type RuleOptimizer, type UpdateSettings, updateRuleOf } from '../../optimizers/optimizers.ts';
import { FileSlots } from '../../optimizers/slots/file-slots.ts';
import { Packing } from '../../optimizers/slots/packing.ts';
import { slotStorageOf } from '../../optimizers/slots/bfloat16-slots.ts';
import type { SlotStorage } from '../../optimizers/slots/slot-storage.ts';
import { writeTensors } from '../../member/weights.ts';
import type {
  LiveStrategyState,
  StepOutcome,
  Strategy,
  StrategyContext,
  StrategyEvent,
  StrategyState,
} from '../strategy.ts';
import { effectiveBatch } from '../data-parallel/data-parallel.ts';
import { clipByNorm, clipByValue, GradientExchange, sumOfSquares } from '../data-parallel/gradient-exchange.ts';
import { GradientAccumulator } from '../data-parallel/local-gradients.ts';
import { requireEqualReplicas } from '../data-parallel/replica-check.ts';
import { Replicas } from '../data-parallel/replicas.ts';
import { divideAnew, savedSliceSchema } from './divide-anew.ts';
import { updateByNorms } from './normed-update.ts';
import { LayeredGradients, type SliceGradients, WholeGradients } from './slice-gradients.ts';
import { readSlices, releaseUnit, UnitWeights } from './unit-weights.ts';
import { asOneUnit, byLayer, inBuckets, segmentsOf, sliceLengthOf, type Unit } from './units.ts';
import { WeightSlice } from './weight-slice.ts';

type ShardedConfig = Extract<StrategyConfig, { kind: 'sharded' }>;

interface Shard {
  group: ProcessGroup;
  /** Where the ranks' statistics of batch normalisation are. */
  buffers: Replicas;
  exchange: GradientExchange;
  gradients: SliceGradients;
  weights: UnitWeights;
  units: readonly Unit[];
  /** This rank's slice of all trained weights, shape `[S]`, padded with zeros. */
  slice: WeightSlice;
  optimizer: RuleOptimizer;
}

/**
 * Data-parallel training with the optimizer's state split over the ranks (Rajbhandari et al., 2020, "ZeRO"): a
 * reduce-scatter gives each rank the mean gradient of its slice of the weights, the rank updates the slice, and an
 * all-gather joins the slices. The update of a weight depends on other weights at most by the norms of their tensor,
 * which the ranks add up. So the result equals data-parallel training, also where a step's loss does not depend on all
 * weights.
 *
 * Stage 2 also splits the gradients: the backward pass gives them to their owners bucket by bucket. Stage 3 also splits
 * the weights: a layer gathers its weights for its forward and its backward pass.
 */
export class Sharded implements Strategy {
  readonly name = 'sharded';
  readonly isLockstep = true;
  readonly keepsWeights: boolean;
  readonly #config: ShardedConfig;
  readonly #batchSize: number;
  readonly #optimizerConfig: OptimizerConfig;
  readonly #seed: number;
  /** A folder on a disk. */
  readonly #folder: string;
  #shard: Shard | null = null;
  #events: StrategyEvent[] = [];

  constructor(config: ShardedConfig, { config: { batchSize, optimizer, seed }, folder = tmpdir() }: StrategyContext) {
    this.#config = config;
    this.#batchSize = batchSize;
    this.#optimizerConfig = optimizer;
    this.#seed = seed;
    this.#folder = folder;
    this.keepsWeights = config.stage === 3;
  }

  async setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void> {
    const { accumulate, stage } = this.#config;
    if (stage === 3) requireReleasable();
    if (resumedAt === undefined) await new Replicas(member.model, group, 'all').broadcast();
    else if (stage < 3) await requireEqualReplicas(group, member, resumedAt, { withOptimizer: false });
    const plan = stage === 1 ? null : new LayerPlan(member);
    const units = this.#unitsOf(member, plan, group.worldSize);
    const position = group.ranks.indexOf(group.rank);
    const values = await readSlices(units, sliceLengthOf(units), position);
    // They are released before slices and optimizer take the same memory.
    const released = stage === 3 ? units : [];
    for (const unit of released) releaseUnit(unit);
    const { weightPrecision } = this.#config;
    if (weightPrecision !== 'float32') requireUnconstrained(member);
    const slice = new WeightSlice(
      values,
      segmentsOf(units, position),
      slotStorageOf(weightPrecision, this.#roundingSeed(group)),
    );
    const optimizer = createOptimizer(this.#optimizerConfig, slice, this.#slotStorage(group));
    const weights = new UnitWeights(group, units, slice, released);
    const lengths = units.map(({ length }) => length);
    const exchange = new GradientExchange(group, this.#config, lengths);
    const gradients =
      plan === null
        ? new WholeGradients(exchange, this.#accumulator(member, group), sliceLengthOf(units))
        : this.#layered(exchange, plan, weights, units);
    const buffers = new Replicas(member.model, group, 'buffers');
    this.#shard = { group, buffers, exchange, gradients, weights, units, slice, optimizer };
    if (saved?.earlier !== undefined) {
      const unitsBefore = this.#unitsOf(member, plan, saved.earlier.worldSize);
      await divideAnew(saved.earlier, unitsBefore, { slice, optimizer, keepsWeights: this.keepsWeights });
    } else if (saved !== null) restore(this.#tensors(), optimizer, saved, group.rank);
    this.#events.push(effectiveBatch(this.#batchSize, group.worldSize, accumulate));
  }

  async trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome> {
    const { group, gradients, weights } = this.#ready();
    const { flat, loss, isReached } = await gradients.compute(member, batch, position);
    if (!Number.isFinite(loss)) return { loss, updated: false };
    await this.#clip(group, flat);
    await this.#update(member, flat, isReached, settings);
    if (!this.keepsWeights) await weights.spread();
    await weights.constrain(member);
    member.average?.update();
    return { loss, updated: true };
  }

  /**
   * The optimizer's state differs by rank, so only weights are compared; in stage 3 there is only one copy of a weight.
   */
  async verify(member: Member, position: Position): Promise<void> {
    if (this.keepsWeights) return;
    await requireEqualReplicas(this.#ready().group, member, position, { withOptimizer: false });
  }

  /** The model then has all weights in stage 3, until the returned function is called. */
  async assemble(): Promise<(() => void) | null> {
    const { buffers, weights, units } = this.#ready();
    await buffers.broadcast();
    if (!this.keepsWeights) return null;
    for (const unit of units) await weights.gather(unit);
    return () => {
      for (const unit of units) weights.release(unit);
    };
  }

  state(): LiveStrategyState {
    const { optimizer } = this.#ready();
    return { tensors: this.#tensors(), files: optimizer.files, data: { optimizerSteps: [...optimizer.steps] } };
  }

  events(): readonly StrategyEvent[] {
    return this.#events.splice(0);
  }

  /**
   * Updates the slice. Where an update depends on norms of whole tensors, the ranks add up the norms of their parts.
   */
  async #update(
    { groups, variables }: Member,
    flat: Float32Array,
    isReached: readonly boolean[],
    given: UpdateSettings,
  ): Promise<void> {
    const { group, slice, optimizer } = this.#ready();
    const settings = slice.segments.map(({ tensor }) => groups.at(tensor, given));
    const { byNorms } = updateRuleOf(this.#optimizerConfig);
    if (byNorms === undefined) return tf.tidy(() => optimizer.apply(slice.toGradients(flat, isReached), settings));
    const tensorCount = variables.length;
    await updateByNorms(
      { group, slice, optimizer, tensorCount, byNorms },
      slice.toGradients(flat, isReached),
      settings,
    );
  }

  /** Clips each element, then by the norm of all slices. */
  async #clip(group: ProcessGroup, flat: Float32Array): Promise<void> {
    const { clipNorm, clipValue } = this.#optimizerConfig;
    if (clipValue > 0) clipByValue(flat, clipValue);
    if (clipNorm === 0) return;
    const [squares] = await group.allReduce(Float64Array.of(sumOfSquares(flat)), 'sum');
    clipByNorm(flat, squares, clipNorm);
  }

  /** Ranks round their slices separately. */
  #roundingSeed({ rank }: ProcessGroup): number {
    return seedForRank(this.#seed, rank, false);
  }

  #slotStorage(group: ProcessGroup): SlotStorage {
    const { statePrecision } = this.#optimizerConfig;
    const seed = this.#roundingSeed(group);
    if (this.#config.offload === 'none') return slotStorageOf(statePrecision, seed);
    return new FileSlots(this.#folder, statePrecision === 'float32' ? null : new Packing(seed));
  }

  #accumulator(member: Member, { worldSize }: ProcessGroup): GradientAccumulator {
    return new GradientAccumulator(member, this.#batchSize, worldSize);
  }

  #layered(
    exchange: GradientExchange,
    plan: LayerPlan,
    weights: UnitWeights,
    units: readonly Unit[],
  ): LayeredGradients {
    const { accumulate } = this.#config;
    return new LayeredGradients({
      exchange,
      plan,
      units,
      batchSize: this.#batchSize,
      accumulate,
      weights: this.keepsWeights ? weights : null,
    });
  }

  #unitsOf({ variables }: Member, plan: LayerPlan | null, worldSize: number): Unit[] {
    if (plan === null) return asOneUnit(variables, worldSize);
    if (this.keepsWeights) return byLayer(variables, plan, worldSize);
    return inBuckets(variables, plan, this.#config.bucketBytes, worldSize);
  }

  #tensors(): ReadonlyMap<string, Variable> {
    const { optimizer, slice, exchange } = this.#ready();
    return new Map([...optimizer.slots, ...(this.keepsWeights ? slice.tensors : []), ...exchange.residuals]);
  }

  #ready(): Shard {
    if (this.#shard !== null) return this.#shard;
    throw new Error('Sharded training was not set up: call setup before the first step.');
  }
}

function requireReleasable(): void {
  if (canReleaseValues()) return;
  throw new Error(
    `The strategy sharded with stage 3 frees weights between their uses, which the ${tf.getBackend()} backend ` +
      'cannot. Use --strategy.stage 2, or --backend wasm.',
  );
}

function requireUnconstrained({ constraints }: Member): void {
  if (constraints.size === 0) return;
  throw new Error(
    'This model has layers with constraints, which would have to be rounded once more after each update. Use ' +
      '--strategy.weight-precision float32.',
  );
}

function restore(
  own: ReadonlyMap<string, Variable>,
  optimizer: RuleOptimizer,
  { tensors, data }: StrategyState,
  rank: number,
): void {
  const { optimizerSteps } = savedSliceSchema.parse(data);
  const expected = optimizer.steps.length;
  if (optimizerSteps.length !== expected) {
    throw new Error(
      `The saved optimizer state of rank ${rank} counts updates of ${optimizerSteps.length} part(s) of its slice ` +
        `of the weights, not of ${expected}. Restore the state from a copy, or start a new run.`,
    );
  }
  const source = `The optimizer state of rank ${rank}`;
  const inFiles = optimizer.files === undefined ? [] : tensors.filter(({ name }) => !own.has(name));
  optimizer.files?.write(inFiles, source);
  writeTensors(
    own,
    tensors.filter((tensor) => !inFiles.includes(tensor)),
    source,
  );
  optimizer.steps = optimizerSteps;
}

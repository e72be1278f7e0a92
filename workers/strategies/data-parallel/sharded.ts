import { z } from 'zod';
import type { OptimizerConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { tf } from '../../tensorflow/tf.ts';
import type { Member, StepPosition } from '../../member/member.ts';
import type { Position } from '../../member/report.ts';
import { createOptimizer, type RuleOptimizer, type UpdateSettings, updateRuleOf } from '../../optimizers/optimizers.ts';
import { updateByNorms } from './normed-update.ts';
import { writeTensors } from '../../member/weights.ts';
import type {
  LiveStrategyState,
  StepOutcome,
  Strategy,
  StrategyContext,
  StrategyEvent,
  StrategyState,
} from '../strategy.ts';
import { effectiveBatch } from './data-parallel.ts';
import { clipByNorm, clipByValue, reduceScatterGradients, sumOfSquares } from './gradient-exchange.ts';
import { GradientAccumulator } from './local-gradients.ts';
import { requireEqualReplicas } from './replica-check.ts';
import { Replicas } from './replicas.ts';
import { WeightSlice } from './weight-slice.ts';

type ShardedConfig = Extract<StrategyConfig, { kind: 'sharded' }>;

interface Shard {
  group: ProcessGroup;
  /** First element of this rank's slice. */
  start: number;
  accumulator: GradientAccumulator;
  buffers: Replicas;
  /** This rank's slice of all trained weights, shape `[S]`; the last rank's is padded with zeros. */
  slice: WeightSlice;
  optimizer: RuleOptimizer;
}

/**
 * Data-parallel training with the optimizer state split over the ranks (Rajbhandari et al., 2020, "ZeRO", stage 1): a
 * reduce-scatter gives each rank the mean gradient of its slice of the weights, the rank updates the slice, and an all-gather
 * joins the slices. The update of a weight depends on other weights at most by the norms of their tensor, which the ranks add up. So the
 * result equals data-parallel training, also where a step's loss does not depend on all weights.
 */
export class Sharded implements Strategy {
  readonly name = 'sharded';
  readonly isLockstep = true;
  readonly #config: ShardedConfig;
  readonly #batchSize: number;
  readonly #optimizerConfig: OptimizerConfig;
  #shard: Shard | null = null;
  #events: StrategyEvent[] = [];

  constructor(config: ShardedConfig, { config: { batchSize, optimizer } }: StrategyContext) {
    this.#config = config;
    this.#batchSize = batchSize;
    this.#optimizerConfig = optimizer;
  }

  async setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void> {
    if (resumedAt === undefined) await new Replicas(member.model, group, 'all').broadcast();
    else await requireEqualReplicas(group, member, resumedAt, { withOptimizer: false });
    const accumulator = new GradientAccumulator(member, this.#batchSize, group.worldSize);
    const flat = new Float32Array(accumulator.length);
    await accumulator.layout.read(member.variables, flat);
    const size = flat.length / group.worldSize;
    const start = group.ranks.indexOf(group.rank) * size;
    const slice = new WeightSlice(flat.slice(start, start + size), accumulator.layout.segments(start, start + size));
    const optimizer = createOptimizer(this.#optimizerConfig, [...slice.variables]);
    this.#shard = {
      group,
      start,
      accumulator,
      slice,
      optimizer,
      buffers: new Replicas(member.model, group, 'buffers'),
    };
    if (saved !== null) restore(optimizer, saved, group.rank);
    this.#events.push(effectiveBatch(this.#batchSize, group.worldSize, this.#config.accumulate));
  }

  async trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome> {
    const { group, accumulator, slice } = this.#ready();
    const local = await accumulator.compute(member, batch, position);
    const { flat, loss, isReached } = await reduceScatterGradients(group, local, this.#config.compression);
    if (!Number.isFinite(loss)) return { loss, updated: false };
    await this.#clip(group, flat);
    await this.#update(member, flat, isReached, settings);
    const slices = await group.allGather(await slice.read());
    const whole = new Float32Array(accumulator.length);
    slices.forEach((values, i) => whole.set(values, i * values.length));
    accumulator.layout.write(whole, member.variables);
    await this.#constrain(member, whole);
    member.average?.update();
    return { loss, updated: true };
  }

  /** The optimizer's state differs by rank, so only weights are compared. */
  async verify(member: Member, position: Position): Promise<void> {
    await requireEqualReplicas(this.#ready().group, member, position, { withOptimizer: false });
  }

  /** A constraint needs whole tensors: every rank applies it to all tensors, and takes its slice from the result. */
  async #constrain(member: Member, whole: Float32Array<ArrayBuffer>): Promise<void> {
    if (member.constraints.size === 0) return;
    const { accumulator, slice, start } = this.#ready();
    member.constrain();
    await accumulator.layout.read(member.variables, whole);
    slice.write(whole.subarray(start));
  }

  async assemble(): Promise<null> {
    await this.#ready().buffers.broadcast();
    return null;
  }

  state(): LiveStrategyState {
    const { optimizer } = this.#ready();
    return { tensors: optimizer.slots, data: { optimizerSteps: [...optimizer.steps] } };
  }

  events(): readonly StrategyEvent[] {
    return this.#events.splice(0);
  }

  /** Updates the slice. Where an update depends on norms of whole tensors, the ranks add up the norms of their parts. */
  async #update(
    { groups }: Member,
    flat: Float32Array,
    isReached: readonly boolean[],
    given: UpdateSettings,
  ): Promise<void> {
    const { group, slice, optimizer, accumulator } = this.#ready();
    const settings = slice.segments.map(({ tensor }) => groups.at(tensor, given));
    const { byNorms } = updateRuleOf(this.#optimizerConfig);
    if (byNorms === undefined) return tf.tidy(() => optimizer.apply(slice.toGradients(flat, isReached), settings));
    const tensorCount = accumulator.layout.tensorCount;
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

  #ready(): Shard {
    if (this.#shard !== null) return this.#shard;
    throw new Error('Sharded training was not set up: call setup before the first step.');
  }
}

/** `optimizerSteps` has one count for each tensor, or part of one, in the rank's slice. */
const savedSchema = z.strictObject({ optimizerSteps: z.array(z.int()) });

function restore(optimizer: RuleOptimizer, { tensors, data }: StrategyState, rank: number): void {
  const { optimizerSteps } = savedSchema.parse(data);
  const expected = optimizer.steps.length;
  if (optimizerSteps.length !== expected) {
    throw new Error(
      `The saved optimizer state of rank ${rank} counts updates of ${optimizerSteps.length} part(s) of its slice of the weights, not of ` +
        `${expected}: an older version of Tutti counted them for the whole slice. ` +
        'Start a new run, or resume this one with the version that saved it.',
    );
  }
  writeTensors(optimizer.slots, tensors, `The optimizer state of rank ${rank}`);
  optimizer.steps = optimizerSteps;
}

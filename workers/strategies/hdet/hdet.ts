import { z } from 'zod';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { adapts } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import type { Member, StepPosition } from '../../member/member.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import type { Position } from '../../member/report.ts';
import { applyMean, effectiveBatch } from '../data-parallel/data-parallel.ts';
import { GradientExchange, type MeanGradients } from '../data-parallel/gradient-exchange.ts';
import { GradientAccumulator, type LocalGradients } from '../data-parallel/local-gradients.ts';
import { requireEqualReplicas } from '../data-parallel/replica-check.ts';
import { Replicas } from '../data-parallel/replicas.ts';
import type {
  LiveStrategyState,
  StepOutcome,
  Strategy,
  StrategyContext,
  StrategyEvent,
  StrategyState,
} from '../strategy.ts';
import { type ControllerState, type Course, HdetController } from './controller.ts';
import { type HdetConfig, Scalars } from './scalars.ts';
import { averageWeights, metricName, type SyncArrays, syncEvent } from './sync.ts';
import { floorFraction, peakStep } from '../../optimizers/schedules.ts';

/** Decides from which step on the bases adapt, and towards which values. */
class AdaptationPlan {
  /** γ of learning rates; null before the first sync that adapts. */
  decay: number | null = null;
  readonly #config: HdetConfig;
  readonly #run: RunConfig;
  readonly #totalSteps: number;

  constructor(config: HdetConfig, run: RunConfig, totalSteps: number) {
    this.#config = config;
    this.#run = run;
    this.#totalSteps = totalSteps;
  }

  /**
   * Whether bases adapt at a sync after so many steps: once the warm-up, or the rise of a one-cycle schedule, has
   * passed.
   */
  isDue(stepsDone: number): boolean {
    const { warmupSteps } = this.#config;
    return adapts(this.#config) && stepsDone >= (warmupSteps > 0 ? warmupSteps : this.#peak);
  }

  /**
   * The course of each scalar. The first sync that adapts fixes a learning rate's γ from its base then. Its floor is
   * the last rate of a one-cycle schedule, else 0. Other scalars have no final value, so no decay.
   * @param rate the base of learning rates
   * @param learningRates names of the scalars that are learning rates
   */
  courses(stepsDone: number, rate: number, learningRates: readonly string[]): (name: string) => Course {
    const { decay, averageEverySteps } = this.#config;
    const { schedule, optimizer } = this.#run;
    const syncs = Math.ceil((this.#totalSteps - stepsDone) / averageEverySteps);
    const floor = schedule.kind === 'one-cycle' ? optimizer.learningRate * floorFraction(schedule) : 0;
    const rateDecay = (this.decay ??= decay ?? decayTo(floor, rate, syncs));
    return (name) => (learningRates.includes(name) ? { decay: rateDecay, floor } : { decay: 0, floor: 0 });
  }

  get #peak(): number {
    const { schedule } = this.#run;
    return schedule.kind === 'one-cycle' ? peakStep(schedule, this.#totalSteps) : 0;
  }
}

/** The γ with base·(1 − γ)^syncs = floor; 0 where the base is at the floor already. */
export function decayTo(floor: number, base: number, syncs: number): number {
  return base <= floor ? 0 : 1 - (floor / base) ** (1 / Math.max(1, syncs));
}

/** The state after setup for a member and a group. */
interface Ready {
  group: ProcessGroup;
  member: Member;
  /** Position among the group's ranks. */
  index: number;
  accumulator: GradientAccumulator;
  exchange: GradientExchange;
  weights: Replicas;
  syncArrays: SyncArrays;
  buffers: Replicas;
  scalars: Scalars;
  controller: HdetController;
}

/**
 * Hyperparameter-divergent ensemble training: ranks train one model with different learning rates (or other scalars)
 * from the first step, average their weights every T steps, and move the base of the rates towards those of ranks with
 * low losses. The schedule sets the base until the warm-up has passed; then `HdetController` does.
 *
 * Ranks average gradients at every step, or train independently between two syncs. With a spread of 0 and averaged
 * gradients ranks do not differ: then there are no syncs, and the training equals data-parallel training bit for bit.
 */
export class Hdet implements Strategy {
  readonly name = 'hdet';
  readonly isLockstep = true;
  readonly #config: HdetConfig;
  readonly #run: RunConfig;
  readonly #plan: AdaptationPlan;
  #ready: Ready | null = null;
  #events: StrategyEvent[] = [];
  /** This rank's losses since the last sync. */
  #interval = { loss: 0, steps: 0 };
  constructor(config: HdetConfig, { config: run, totalSteps }: StrategyContext) {
    this.#config = config;
    this.#run = run;
    this.#plan = new AdaptationPlan(config, run, totalSteps);
  }

  async setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void> {
    const { model } = member;
    const { accumulate, spread, lossScale, adaptation, inertia } = this.#config;
    const { batchSize, seed } = this.#run;
    const weights = new Replicas(model, group, 'all');
    const scalars = new Scalars(this.#run, this.#config, model);
    const options = { spread, lossScale, adaptation, inertia, worldSize: group.worldSize, seed };
    const controller = new HdetController(options, scalars.bases);
    const accumulator = new GradientAccumulator(member, batchSize);
    const index = group.ranks.indexOf(group.rank);
    this.#ready = {
      group,
      member,
      index,
      accumulator,
      exchange: new GradientExchange(group, this.#config, []),
      weights,
      syncArrays: { own: weights.allocate(), mean: weights.allocate() },
      buffers: new Replicas(model, group, 'buffers'),
      scalars,
      controller,
    };
    if (saved === null) {
      await weights.broadcast();
    } else {
      this.#restore(savedSchema.parse(saved.data), controller, scalars.bases);
    }
    if (resumedAt !== undefined) await this.verify(member, resumedAt);
    this.#events.push(effectiveBatch(batchSize, group.worldSize, accumulate));
  }

  async trainStep(
    member: Member,
    batch: Batch,
    scheduled: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome | null> {
    const { accumulator, scalars, controller, index } = this.#prepared();
    if (this.followsSchedule())
      for (const name of scalars.learningRates) controller.setBase(name, scheduled.learningRate);
    const valueOf = (name: string): number => controller.value(name, index);
    const ofLoss = scalars.apply(valueOf);
    const local = await accumulator.compute(member, batch, { ...position, scalars: ofLoss });
    const mean = await this.#exchange(local);
    const settings = scalars.settings(scheduled, valueOf);
    const outcome = mean === null ? null : applyMean(member, accumulator, mean, settings);
    const ownLoss = outcome?.updated && local.weight > 0 ? this.#countLoss(local) : null;
    const done = position.step + 1;
    if (this.#hasSpread && done % this.#config.averageEverySteps === 0) await this.#sync(done, scheduled.learningRate);
    if (outcome === null) return null;
    const [{ learningRate }] = settings;
    return { loss: ownLoss ?? outcome.loss, updated: outcome.updated, learningRate };
  }

  /** Adds this rank's loss to those since the last sync. @returns the loss */
  #countLoss({ weightedLoss, weight }: LocalGradients): number {
    const loss = weightedLoss / weight;
    this.#interval.loss += loss;
    this.#interval.steps += 1;
    return loss;
  }

  /** Until the first sync that adapts. */
  followsSchedule(): boolean {
    return this.#plan.decay === null;
  }

  points(): ReadonlyMap<string, number> {
    const { group, index, controller, scalars } = this.#prepared();
    const names = [...scalars.bases.keys()].filter((name) => name !== 'learningRate');
    return new Map(
      names.map((name) => [`train/member_${group.rank}_${metricName(name)}`, controller.value(name, index)]),
    );
  }

  events(): readonly StrategyEvent[] {
    return this.#events.splice(0);
  }

  /** Ranks with a spread have equal weights only right after a sync, and never equal optimizer states. */
  async verify(member: Member, position: Position): Promise<void> {
    if (this.#hasSpread && position.step % this.#config.averageEverySteps !== 0) return;
    await requireEqualReplicas(this.#prepared().group, member, position, { withOptimizer: !this.#hasSpread });
  }

  async assemble(): Promise<(() => void) | null> {
    const { member, weights, buffers } = this.#prepared();
    if (!this.#hasSpread) {
      await buffers.broadcast();
      return null;
    }
    const own = await weights.read();
    weights.write(await weights.mean(own));
    member.constrain();
    return () => weights.write(own);
  }

  state(): LiveStrategyState {
    const { state } = this.#prepared().controller;
    // The controller changes its state in place.
    const controller = { ...state, scalars: state.scalars.map((scalar) => ({ ...scalar })) };
    const data: SavedState = { controller, interval: { ...this.#interval }, decay: this.#plan.decay };
    return { tensors: new Map(), data };
  }

  /** Whether ranks' weights may differ between two steps. */
  get #hasSpread(): boolean {
    return this.#config.spread > 0 || !this.#config.gradientSync;
  }

  /** Null where a rank without gradient exchange had no samples. */
  async #exchange(local: LocalGradients): Promise<MeanGradients | null> {
    const { exchange } = this.#prepared();
    if (this.#config.gradientSync) return await exchange.allReduce(local);
    if (local.weight === 0) return null;
    const { flat, weight, weightedLoss, isReached } = local;
    return { flat: flat.map((sum) => sum / weight), loss: weightedLoss / weight, isReached };
  }

  /** Replaces every rank's weights by their mean. After the warm-up the bases adapt as well. */
  async #sync(stepsDone: number, rate: number): Promise<void> {
    const { group, member, weights, controller, scalars, syncArrays } = this.#prepared();
    const loss = this.#interval.loss / this.#interval.steps;
    const outcome = await averageWeights(group, member, weights, syncArrays, loss);
    this.#interval = { loss: 0, steps: 0 };
    const adaptations = this.#plan.isDue(stepsDone)
      ? controller.sync(outcome.losses, this.#plan.courses(stepsDone, rate, scalars.learningRates))
      : [];
    this.#events.push(syncEvent(group, outcome, adaptations));
  }

  /** Bases that do not adapt, or no longer, are those of the configuration. */
  #restore(
    { controller: state, interval, decay }: SavedState,
    controller: HdetController,
    configured: ReadonlyMap<string, number>,
  ): void {
    controller.restore(state);
    this.#interval = interval;
    if (adapts(this.#config)) this.#plan.decay = decay;
    else for (const [name, base] of configured) controller.setBase(name, base);
  }

  #prepared(): Ready {
    if (this.#ready !== null) return this.#ready;
    throw new Error('HDET was not set up: call setup before the first step.');
  }
}

interface SavedState {
  controller: ControllerState;
  interval: { loss: number; steps: number };
  decay: number | null;
}

const savedSchema = z.strictObject({
  controller: z.strictObject({
    syncs: z.int(),
    scalars: z.array(
      z.strictObject({
        name: z.string(),
        base: z.number(),
        velocity: z.number(),
        multiplierOfRank: z.array(z.int()),
      }),
    ),
  }),
  interval: z.strictObject({ loss: z.number(), steps: z.int() }),
  decay: z.number().nullable(),
});

import type { StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { tf } from '../../tensorflow/tf.ts';
import type { Member, StepPosition } from '../../member/member.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import type { Position } from '../../member/report.ts';
import { writeTensors } from '../../member/weights.ts';
import type {
  LiveStrategyState,
  StepOutcome,
  Strategy,
  StrategyContext,
  StrategyEvent,
  StrategyState,
} from '../strategy.ts';
import { GradientExchange, type MeanGradients } from './gradient-exchange.ts';
import { updateInPlace } from './in-place.ts';
import { GradientAccumulator } from './local-gradients.ts';
import { requireEqualReplicas } from './replica-check.ts';
import { Replicas } from './replicas.ts';

export type DataParallelConfig = Extract<StrategyConfig, { kind: 'data-parallel' }>;

/**
 * One model, trained by all N ranks: each computes the gradients of its share of a step's samples, the ranks average
 * them, and all make the same update (Li et al., 2020, "PyTorch Distributed"). Up to rounding, this equals training on
 * one rank with a batch N times as large. A step updates a weight if the loss of at least one rank's samples depends on
 * it.
 *
 * Running statistics of batch normalisation differ between ranks during training; the first rank's are evaluated and
 * saved.
 */
export class DataParallel implements Strategy {
  readonly name = 'data-parallel';
  readonly isLockstep = true;
  readonly #config: DataParallelConfig;
  readonly #batchSize: number;
  #group: ProcessGroup | null = null;
  #accumulator: GradientAccumulator | null = null;
  #exchange: GradientExchange | null = null;
  #buffers: Replicas | null = null;
  #events: StrategyEvent[] = [];

  constructor(config: DataParallelConfig, { config: { batchSize } }: StrategyContext) {
    this.#config = config;
    this.#batchSize = batchSize;
  }

  async setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void> {
    this.#group = group;
    this.#accumulator = new GradientAccumulator(member, this.#batchSize);
    this.#exchange = new GradientExchange(group, this.#config, [this.#accumulator.length]);
    this.#buffers = new Replicas(member.model, group, 'buffers');
    // What the encodings of another number of ranks left out does not fit these ranks.
    if (saved !== null && saved.earlier === undefined)
      writeTensors(this.#exchange.residuals, saved.tensors, `The strategy's state of rank ${group.rank}`);
    if (resumedAt === undefined) await new Replicas(member.model, group, 'all').broadcast();
    else await this.verify(member, resumedAt);
    this.#events.push(effectiveBatch(this.#batchSize, group.worldSize, this.#config.accumulate));
  }

  async trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome> {
    const { group, accumulator, exchange } = this.#ready();
    if (this.#isExchangedInPlace(batch)) {
      return await updateInPlace(group, member, await member.lossAndGradients(batch, position), settings);
    }
    const local = await accumulator.compute(member, batch, position);
    const mean = await exchange.allReduce(local);
    return applyMean(member, accumulator, mean, settings);
  }

  /** Whether gradients are those of one whole batch, all of which counts, and not compressed. */
  #isExchangedInPlace({ featureShape: [samples], mask }: Batch): boolean {
    const isWhole = samples === this.#batchSize && mask === undefined;
    return tf.getBackend() === 'wasm' && isWhole && this.#config.compression === 'none';
  }

  async verify(member: Member, position: Position): Promise<void> {
    await requireEqualReplicas(this.#ready().group, member, position, { withOptimizer: true });
  }

  async assemble(): Promise<null> {
    await this.#ready().buffers.broadcast();
    return null;
  }

  /** What the encodings of gradients left out so far. */
  state(): LiveStrategyState {
    return { tensors: this.#ready().exchange.residuals, data: {} };
  }

  events(): readonly StrategyEvent[] {
    return this.#events.splice(0);
  }

  #ready() {
    const [group, accumulator, exchange, buffers] = [this.#group, this.#accumulator, this.#exchange, this.#buffers];
    if (group !== null && accumulator !== null && exchange !== null && buffers !== null) {
      return { group, accumulator, exchange, buffers };
    }
    throw new Error('Data-parallel training was not set up: call setup before the first step.');
  }
}

/** Makes the ranks' common update, unless the loss is not finite. */
export function applyMean(
  member: Member,
  accumulator: GradientAccumulator,
  { flat, loss, isReached }: MeanGradients,
  settings: UpdateSettings | readonly UpdateSettings[],
): StepOutcome {
  const updated = Number.isFinite(loss);
  if (updated) {
    const gradients = accumulator.toGradients(flat, isReached);
    member.applyGradients(gradients, settings);
    for (const gradient of gradients) gradient?.dispose();
  }
  return { loss, updated };
}

/** Reports how many samples contribute to one update. */
export function effectiveBatch(batchSize: number, worldSize: number, accumulate: number): StrategyEvent {
  const samples = batchSize * worldSize * accumulate;
  const ranks = `${worldSize} ${worldSize === 1 ? 'rank' : 'ranks'}`;
  const parts = accumulate === 1 ? '' : ` × ${accumulate} accumulated`;
  return {
    kind: 'effective-batch',
    message: `Effective batch size ${samples}: ${batchSize} samples × ${ranks}${parts}.`,
    data: { samples, batchSize, worldSize, accumulate },
    points: new Map(),
  };
}

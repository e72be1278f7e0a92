import type { StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { type Tensor, tf } from '../../tensorflow/tf.ts';
import type { Gradient, Member, StepPosition } from '../../member/member.ts';
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
import { divideByWeight, GradientExchange, type MeanGradients } from './gradient-exchange.ts';
import { decodeTotals, encodeTotals, GradientAccumulator } from './local-gradients.ts';
import { requireEqualReplicas } from './replica-check.ts';
import { Replicas } from './replicas.ts';
import { isAloneInMemory, viewOf } from '../../tensorflow/tensor-values.ts';
import { Parts } from '../../collectives/parts.ts';

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

/** A rank's gradients of one whole batch, in the backend's memory. */
interface WholeBatch {
  loss: number;
  gradients: Gradient[];
}

/**
 * Exchanges the gradients of a whole batch, whose weight is 1, in the backend's memory, without the flat array of
 * `GradientAccumulator`: that saves two copies. To the other ranks it is the same collective, with the same totals at
 * its end, so each rank may choose by its batch. Disposes of the gradients.
 */
export async function updateInPlace(
  group: ProcessGroup,
  member: Member,
  { loss: ownLoss, gradients }: WholeBatch,
  settings: UpdateSettings,
): Promise<StepOutcome> {
  const own = gradients.map((gradient) =>
    gradient === null || isAloneInMemory(gradient) ? gradient : moved(gradient),
  );
  const unreached = own.map((gradient, i) => (gradient === null ? new Float32Array(member.variables[i].size) : null));
  const isReachedHere = own.map((gradient) => gradient !== null);
  const totals = Float32Array.from(encodeTotals({ weight: 1, weightedLoss: ownLoss, isReached: isReachedHere }));
  const length = member.variables.reduce((sum, { size }) => sum + size, 0);
  const views = () =>
    own.map((gradient, i) => (gradient === null ? null : viewOf(gradient)) ?? unreached[i] ?? missing(i));
  await group.allReduceParts(new Parts(length + totals.length, () => [...views(), totals]), 'float32', 'mean');
  const { weight, weightedLoss, isReached } = decodeTotals(totals);
  for (const view of views()) divideByWeight(view, weight);
  const loss = weightedLoss / weight;
  const updated = Number.isFinite(loss);
  const means = own.map((gradient, i) => gradient ?? (isReached[i] ? ofOtherRanks(member, i, unreached[i]) : null));
  if (updated) member.applyGradients(means, settings);
  for (const gradient of means) gradient?.dispose();
  return { loss, updated };
}

/** The mean gradient of a variable that only other ranks' losses depend on. */
function ofOtherRanks({ variables }: Member, i: number, mean: Float32Array | null): Tensor {
  return tf.tensor(mean ?? missing(i), variables[i].shape);
}

/** A copy in separate memory: writing to it must not change another tensor. */
function moved(gradient: Tensor): Tensor {
  const copy = tf.mul(gradient, 1);
  gradient.dispose();
  return copy;
}

function missing(i: number): never {
  throw new Error(`Gradient ${i} is not in the backend's memory: it cannot be exchanged in place.`);
}

import { z } from 'zod';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Batch } from '../data/dataset.ts';
import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { ForwardPass } from '../member/forward-pass.ts';
import { addGradients, type LossAndGradients, type Member } from '../member/member.ts';
import { weightVariables, writeWeights } from '../member/weights.ts';
import type { UpdateSettings } from '../optimizers/optimizers.ts';
import { recordDraws } from '../random/index.ts';
import { holdTensors, releaseTensors } from '../tensorflow/tensor-values.ts';
import type { LiveStrategyState, StepOutcome, Strategy, StrategyContext, StrategyState } from './strategy.ts';
import { type ProductLoss, sumInOrder } from './joint-product.ts';
import { productOfTask } from './joint-task-products.ts';
import type { StrategyConfig } from '../../core/protocol/run/config.ts';

const savedSchema = z.strictObject({
  bytes: z.number(),
  steps: z.int(),
  /** A step whose logits the ranks were summing; absent where there was none. */
  begun: z
    .strictObject({
      settings: z.strictObject({
        learningRate: z.number(),
        momentum: z.number().optional(),
        weightDecay: z.number().optional(),
      }),
      draws: z.array(z.number()),
    })
    .optional(),
});

/** A batch after its forward pass, while the ranks sum its logits. */
interface PendingStep {
  member: Member;
  pass: ForwardPass;
  /** The penalty of the weights of the forward pass. */
  penalty: LossAndGradients | null;
  batch: Pick<Batch, 'targets' | 'mixed'>;
  settings: UpdateSettings;
  summed: Promise<SummedLogits>;
  /**
   * What repeats the forward pass after a resume: the weights before it, and the numbers that it drew. Null where it is
   * not saved.
   */
  before: BeforePass | null;
}

interface BeforePass {
  weights: ReadonlyMap<string, Tensor>;
  draws: readonly number[];
}

/** What the product's loss depends on. */
interface JointContext {
  task: Pick<StrategyContext['task'], 'kind'>;
  config: Pick<StrategyContext['config'], 'loss'>;
}

/**
 * Members that learn as one model: the loss is that of their product of experts q, in classification the softmax of the
 * mean logits, and the gradient of each member's logits is (q − p) / (M·B) with one-hot labels p; `task-products.ts`
 * has the other tasks. A step has one forward pass and exchanges only logits (Webb, 2019, "Distributed joint training
 * of large ensembles with low communication overhead"). A rank adds its penalties (regularizers) to its reported loss,
 * and their gradients to those of the product.
 *
 * `pipelined` does the next batch's forward pass while the ranks sum the last one's logits. Gradients are then one step
 * stale: they belong to weights without the last update. The first step of each round has only a forward pass; `settle`
 * completes the last. A state within a round holds what repeats the forward pass of the pending step.
 */
export class Joint implements Strategy {
  readonly name = 'joint';
  readonly isLockstep = true;
  readonly #mode: JointConfig['mode'];
  readonly #productLoss: ReturnType<typeof productOfTask>;
  #exchange: ProcessGroup | null = null;
  #pending: PendingStep | null = null;
  /** Since the last points, which may belong to an earlier attempt. */
  #traffic = { bytes: 0, steps: 0 };
  #saved: StrategyState | null = null;

  constructor({ mode }: JointConfig, { task, config }: JointContext) {
    this.#mode = mode;
    this.#productLoss = productOfTask(task.kind, config.loss);
  }

  async setup(_: Member, group: ProcessGroup, saved: StrategyState | null): Promise<void> {
    this.#exchange = group;
    if (saved === null) return;
    const { bytes, steps } = savedSchema.parse(saved.data);
    this.#traffic = { bytes, steps };
    this.#saved = saved;
  }

  async repeatBegun(member: Member, lastBatch: () => Promise<Batch>): Promise<void> {
    const { tensors, data } = this.#saved ?? { tensors: [], data: null };
    this.#saved = null;
    const { begun } = data === null ? { begun: undefined } : savedSchema.parse(data);
    if (begun === undefined) return;
    const batch = await lastBatch();
    const present = holdTensors(weightVariables(member.model));
    writeWeights(member.model, tensors, 'The step that was begun');
    await this.#begin(member, batch, begun.settings, begun.draws);
    for (const [name, variable] of weightVariables(member.model)) variable.assign(present.get(name) ?? variable);
    releaseTensors(present);
    if (this.#mode !== 'pipelined') await this.settle();
  }

  async trainStep(member: Member, batch: Batch, settings: UpdateSettings): Promise<StepOutcome | null> {
    const earlier = this.#pending;
    await this.#begin(member, batch, settings);
    if (this.#mode !== 'pipelined') return this.settle();
    return earlier === null ? null : this.#complete(earlier);
  }

  async settle(): Promise<StepOutcome | null> {
    const last = this.#pending;
    this.#pending = null;
    return last === null ? null : this.#complete(last);
  }

  state(): LiveStrategyState {
    const { before, settings } = this.#pending ?? { before: null };
    const begun = before === null ? {} : { begun: { settings, draws: before.draws } };
    return { tensors: before?.weights ?? new Map<string, Tensor>(), data: { ...this.#traffic, ...begun } };
  }

  points(): Map<string, number> {
    const { bytes, steps } = this.#traffic;
    this.#traffic = { bytes: 0, steps: 0 };
    return new Map(steps === 0 ? [] : [[`train/member_${this.#group.rank}_bytes_per_step`, bytes / steps]]);
  }

  /**
   * Does a batch's forward pass, and sends its logits.
   * @param replayed the random numbers of the pass, which it repeats
   */
  async #begin(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    replayed: readonly number[] | null = null,
  ): Promise<void> {
    const isKept = this.#mode === 'pipelined';
    const weights = isKept ? holdTensors(weightVariables(member.model)) : null;
    const { result: pass, draws } = recordDraws(() => member.forward(batch), replayed);
    const before = weights === null ? null : { weights, draws };
    const logits = (await pass.output.data()) as Float32Array;
    const summed = sumLogits(this.#group, this.#mode, logits);
    // A step that fails before it waits for the sum reports its own error.
    summed.catch(() => undefined);
    const penalty = await member.penalty();
    this.#pending = {
      member,
      pass,
      penalty,
      batch: { targets: batch.targets, mixed: batch.mixed },
      settings,
      summed,
      before,
    };
  }

  async #complete(step: PendingStep): Promise<StepOutcome> {
    const { sum, bytes } = await step.summed;
    releaseTensors(step.before?.weights ?? new Map());
    this.#traffic.bytes += bytes;
    this.#traffic.steps += 1;
    return update(step, this.#productLoss(sum, step.batch, this.#group.worldSize));
  }

  get #group(): ProcessGroup {
    if (this.#exchange !== null) return this.#exchange;
    throw new Error('Joint training was not set up: call setup before the first step.');
  }
}

/** Backward pass and update, unless the loss is not finite. The product's loss is the same on all ranks. */
function update({ member, pass, penalty, settings }: PendingStep, product: ProductLoss): StepOutcome {
  const loss = product.loss + (penalty?.loss ?? 0);
  const updated = Number.isFinite(loss);
  if (!updated) {
    pass.discard();
    tf.dispose(penalty?.gradients.filter((tensor) => tensor !== null) ?? []);
    return { loss, updated };
  }
  const outputGradient = tf.tensor(product.gradient, pass.output.shape, 'float32');
  const ofProduct = pass.backward(outputGradient);
  const gradients = penalty === null ? ofProduct : addGradients(ofProduct, penalty.gradients);
  member.applyGradients(gradients, settings);
  tf.dispose([outputGradient, ...gradients.filter((tensor) => tensor !== null)]);
  return { loss, updated, learningRate: settings.learningRate };
}

type JointConfig = Extract<StrategyConfig, { kind: 'joint' }>;

interface SummedLogits {
  /** Σ_m z_m, shape `[B, K]`: the same bits on every rank. */
  sum: Float32Array;
  /** Bytes of arrays that this rank sent and received. */
  bytes: number;
}

/**
 * Sums the logits `[B, K]` of all M members.
 *
 * - `gather`: every rank receives all logits and sums them: (1 + M)·B·K floats per rank.
 * - `reduce` and `pipelined`: an all-reduce: 2·B·K floats per rank, for any number of members.
 * - `tree`: ranks sum in pairs, pairs of pairs and so on, and the first broadcasts the sum: 2·B·K floats for most
 *   ranks, (1 + log2 M)·B·K for the first, and no rank sums more than log2 M arrays.
 *
 * The first two sum in rank order, so their results agree bit for bit; a tree's sums are rounded in another order.
 */
async function sumLogits(group: ProcessGroup, mode: JointConfig['mode'], logits: Float32Array): Promise<SummedLogits> {
  if (mode === 'tree') return await sumAlongTree(group, logits);
  if (mode === 'gather') {
    const all = await group.allGather(logits);
    return { sum: sumInOrder(all), bytes: logits.byteLength * (1 + all.length) };
  }
  const sum = await group.allReduce(logits, 'sum');
  return { sum, bytes: logits.byteLength + sum.byteLength };
}

/** At distance 1, 2, 4, ... every second of the remaining ranks sends its sum to the one before it. */
async function sumAlongTree(group: ProcessGroup, logits: Float32Array): Promise<SummedLogits> {
  const position = group.ranks.indexOf(group.rank);
  let sum = logits;
  let bytes = logits.byteLength;
  for (let distance = 1; distance < group.worldSize; distance *= 2) {
    const sends = position % (2 * distance) === distance;
    const received = await group.shift(sum, distance, sends);
    if (received === null || position % (2 * distance) !== 0) continue;
    sum = sumInOrder([sum, received]);
    bytes += received.byteLength;
  }
  const total = await group.broadcast(sum, group.ranks[0]);
  return { sum: total, bytes: position === 0 ? bytes : bytes + total.byteLength };
}

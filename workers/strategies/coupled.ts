import { z } from 'zod';
import type { StrategyConfig } from '../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { augmentImages, type Augmentation, changesImages } from '../data/augment/augment.ts';
import { type Batch, type Dataset, gatherBatch } from '../data/dataset.ts';
import { createSampler, type Sampler } from '../data/samplers.ts';
import { Generator, seedForRank } from '../random/index.ts';
import { type Tensor, tf } from '../tensorflow/tf.ts';
import { addGradients, type Gradient, type Member, type StepPosition } from '../member/member.ts';
import type { LiveStrategyState, StepOutcome, Strategy, StrategyContext, StrategyState } from './strategy.ts';
import type { UpdateSettings } from '../optimizers/optimizers.ts';

export type CoupledConfig = Extract<StrategyConfig, { kind: 'coupled' }>;

const sumsSchema = z.strictObject({
  /** Losses of steps with an update. */
  supervised: z.number(),
  coupling: z.number(),
  updates: z.int(),
  /** Bytes of all steps, also those without an update. */
  bytes: z.number(),
  steps: z.int(),
});

const noSums = { supervised: 0, coupling: 0, updates: 0, bytes: 0, steps: 0 };

/**
 * Members that learn from labels independently, and from unlabelled samples by agreement: a member's loss is its task's
 * loss on a labelled batch plus λ·KL(member || ensemble mean) on an unlabelled batch, which is the same for all ranks.
 * The ensemble's mean is all-reduced, and the loss has no gradient through it. Every rank augments its images
 * differently. Sampling and augmentation are functions of seed and step, so the saved state holds only the sums for the
 * next points.
 */
export class Coupled implements Strategy {
  readonly name = 'coupled';
  readonly isLockstep = true;
  private readonly config: CoupledConfig;
  /** Whether outputs are logits of separate decisions, not of classes. */
  private readonly decidesLabels: boolean;
  private readonly augmentation: Augmentation;
  private readonly unlabelled: Dataset;
  private readonly sampler: Sampler;
  private readonly seedOf: (rank: number) => number;
  private exchange: ProcessGroup | null = null;
  /** Since the last points, which may belong to an earlier attempt. */
  private sums: z.output<typeof sumsSchema> = { ...noSums };

  /** @throws where the project has no unlabelled samples */
  constructor(
    config: CoupledConfig,
    { config: { seed, identicalSeeds, members, augmentation }, task, unlabelled }: StrategyContext,
  ) {
    if (unlabelled === undefined) {
      throw new Error(
        'The strategy coupled needs unlabelled samples, and this project has none: return a split `unlabelled` ' +
          'as well.',
      );
    }
    this.config = config;
    this.decidesLabels = task.kind !== 'classification';
    this.augmentation = augmentation;
    this.unlabelled = unlabelled;
    this.seedOf = (rank) => seedForRank(seed, rank, identicalSeeds);
    this.sampler = createSampler({
      kind: 'shared',
      length: unlabelled.length,
      batchSize: Math.min(config.unlabelledBatchSize, unlabelled.length),
      dropLast: true,
      seed,
      // Different from the order of labelled samples, which depends on the seed itself.
      sharedSeed: seedForRank(seed, members, false),
      rank: 0,
      worldSize: 1,
    });
  }

  async setup(_: Member, group: ProcessGroup, saved: StrategyState | null): Promise<void> {
    this.exchange = group;
    if (saved !== null) this.sums = sumsSchema.parse(saved.data);
  }

  async trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome | null> {
    if (this.config.couplingWeight === 0) {
      const { loss, gradients } = await member.lossAndGradients(batch, position);
      return this.update(member, loss, 0, gradients, settings);
    }
    const pass = member.forward(this.augmentedUnlabelled(position.step));
    const probabilities = (await readAndDispose(
      tf.tidy(() => exchangedProbabilities(pass.output, this.decidesLabels)),
    )) as Float32Array;
    const summed = this.group.allReduce(probabilities, 'sum');
    const supervised = await member.lossAndGradients(batch, position);
    const sum = await summed;
    this.sums.bytes += probabilities.byteLength + sum.byteLength;
    // Positions of a sample count as samples.
    const rows = pass.output.size / pass.output.shape[pass.output.rank - 1];
    const coupling = this.decidesLabels
      ? coupleStates(probabilities, sum, this.group.worldSize)
      : couple(probabilities, sum, this.group.worldSize, rows);
    const outputGradient = tf.tidy(() =>
      tf.mul(tf.tensor(coupling.gradient, pass.output.shape), this.config.couplingWeight),
    );
    const gradients = addGradients(supervised.gradients, pass.backward(outputGradient));
    outputGradient.dispose();
    return this.update(member, supervised.loss, coupling.loss, gradients, settings);
  }

  state(): LiveStrategyState {
    return { tensors: new Map(), data: { ...this.sums } };
  }

  points(): Map<string, number> {
    const { supervised, coupling, updates, bytes, steps } = this.sums;
    this.sums = { ...noSums };
    const name = `train/member_${this.group.rank}`;
    const points = new Map<string, number>();
    if (updates > 0) points.set(`${name}_supervised_loss`, supervised / updates);
    if (updates > 0) points.set(`${name}_coupling_loss`, coupling / updates);
    if (steps > 0) points.set(`${name}_bytes_per_step`, bytes / steps);
    return points;
  }

  /** The same on every rank: a function of the step. */
  private unlabelledBatch(step: number): Batch {
    const { batchesPerEpoch } = this.sampler;
    const order = [...this.sampler.batches(Math.floor(step / batchesPerEpoch))];
    return gatherBatch(this.unlabelled, order[step % batchesPerEpoch]);
  }

  /** Changed differently on each rank; mixing is for labelled samples. */
  private augmentedUnlabelled(step: number): Batch {
    const batch = this.unlabelledBatch(step);
    if (!changesImages(this.augmentation)) return batch;
    const generator = new Generator(this.seedOf(this.group.rank), `augment/unlabelled-${step}`);
    const target = new Float32Array(batch.features.length);
    return augmentImages(batch, this.augmentation, { generator, normalization: this.unlabelled.normalization, target });
  }

  private update(
    member: Member,
    supervised: number,
    coupling: number,
    gradients: Gradient[],
    settings: UpdateSettings,
  ): StepOutcome {
    const loss = supervised + this.config.couplingWeight * coupling;
    const updated = Number.isFinite(loss);
    this.sums.steps += 1;
    if (updated) {
      member.applyGradients(gradients, settings);
      this.sums.supervised += supervised;
      this.sums.coupling += coupling;
      this.sums.updates += 1;
    }
    for (const gradient of gradients) gradient?.dispose();
    return { loss, updated };
  }

  private get group(): ProcessGroup {
    if (this.exchange === null) throw new Error('The strategy coupled was not set up before its first step.');
    return this.exchange;
  }
}

async function readAndDispose(tensor: ReturnType<typeof tf.softmax>) {
  const values = await tensor.data();
  tensor.dispose();
  return values;
}

/** Sizes: `B` batch, `K` classes, `L` labels, `M` members. */

interface Coupling {
  /** 1/B Σ_b KL(p[b] || q[b]) in nats, KL(p || q) = Σ_k p_k log(p_k / q_k). */
  loss: number;
  /** ∂loss/∂z with q held fixed: p_k (log(p_k / q_k) − KL) / B; shape `[B, K]`. */
  gradient: Float32Array;
}

/**
 * The divergence of a member's predictions p from the ensemble's predictions q.
 * @param probabilities p = softmax(z), shape `[B, K]`
 * @param sum Σ_m p_m over all M members, including this one: q = sum / M
 * @param samples B
 */
export function couple(probabilities: Float32Array, sum: Float32Array, members: number, samples: number): Coupling {
  const classes = probabilities.length / samples;
  const gradient = new Float32Array(probabilities.length);
  let loss = 0;
  for (let start = 0; start < probabilities.length; start += classes) {
    const logRatios = Float64Array.from({ length: classes }, (_, label) => {
      const own = probabilities[start + label];
      // A class with p = 0 contributes nothing to KL(p || q).
      return own === 0 ? 0 : Math.log(own / (sum[start + label] / members));
    });
    const divergence = logRatios.reduce((total, ratio, label) => total + probabilities[start + label] * ratio, 0);
    loss += divergence / samples;
    logRatios.forEach((ratio, label) => {
      gradient[start + label] = (probabilities[start + label] * (ratio - divergence)) / samples;
    });
  }
  return { loss, gradient };
}

/**
 * A member's probabilities of the classes, `[B, K]`, or of the two states of each label, `[B, L, 2]`, from its logits
 * `[B, K]` or `[B, L]`.
 */
function exchangedProbabilities(logits: Tensor, ofLabels: boolean): Tensor {
  // σ(z) and σ(−z) are the softmax of (0, z): a probability near 1 keeps the digits of its complement.
  return tf.softmax(ofLabels ? tf.stack([tf.zerosLike(logits), logits], -1) : logits);
}

/**
 * {@link couple} for labels that are decided separately: the mean over samples and labels of the divergence of
 * Bernoulli distributions, and its gradient for the logits `[B, L]`.
 * @param probabilities `[B, L, 2]`
 */
export function coupleStates(probabilities: Float32Array, sum: Float32Array, members: number): Coupling {
  const { loss, gradient } = couple(probabilities, sum, members, probabilities.length / 2);
  return { loss, gradient: gradient.filter((_, i) => i % 2 === 1) };
}

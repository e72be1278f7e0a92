import { bubbleFraction, pipelinePlace, stageSchedule } from '../../../core/pipeline/schedule.ts';
import type { RunConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Batch } from '../../data/dataset.ts';
import { addGradients, type Gradient, type Member, type StepPosition } from '../../member/member.ts';
import type { Task } from '../../member/tasks.ts';
import { boundValues, factorOf, sumOfSquares } from '../../optimizers/clipping.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import { partsOf } from '../data-parallel/local-gradients.ts';
import type { LiveStrategyState, StepOutcome, Strategy, StrategyContext, StrategyEvent } from '../strategy.ts';
import { PipelinedModel } from './spread-model.ts';
import { type ModelStage, StagePasses } from './stage-passes.ts';

type PipelineConfig = Extract<StrategyConfig, { kind: 'pipeline' }>;

/**
 * A model whose layers are spread over S ranks; with M·S ranks, M such members. A batch is split into M micro-batches,
 * which pass through the stages one after the other (Huang et al., 2019, "GPipe"; Narayanan et al., 2021,
 * PipeDream-flush). All gradients of a step belong to the same weights, and are those of the mean loss of the whole
 * batch, so a step equals that of one process up to rounding. Each rank keeps weights, gradients and the optimizer's
 * state of its layers.
 *
 * Batch normalization computes its statistics in each micro-batch, as in GPipe, and updates its running statistics once
 * per micro-batch.
 */
export class Pipeline implements Strategy {
  readonly name = 'pipeline';
  readonly isLockstep = true;
  readonly #config: PipelineConfig;
  readonly #run: RunConfig;
  readonly #task: Task;
  readonly #stage: ModelStage;
  #ready: { group: ProcessGroup; passes: StagePasses; spread: PipelinedModel } | null = null;
  #events: StrategyEvent[] = [];

  constructor(config: PipelineConfig, { config: run, task, stage }: StrategyContext) {
    if (stage === undefined) throw new Error('The strategy pipeline needs the part of the model that a rank holds.');
    this.#config = config;
    this.#run = run;
    this.#task = task;
    this.#stage = stage;
  }

  async setup(member: Member, group: ProcessGroup): Promise<void> {
    const passes = new StagePasses(member, group, this.#stage, this.#run.activationCheckpointing);
    const spread = new PipelinedModel(member, group, this.#task, this.#stage);
    this.#ready = { group, passes, spread };
    this.#events.push(describeStages(this.#stage, group.worldSize, this.#config.microBatches));
    await group.mapMessages();
    await group.barrier();
  }

  get spread(): PipelinedModel {
    return this.#parts().spread;
  }

  async trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome> {
    const { passes } = this.#parts();
    const { ranks } = this.#stage;
    const { schedule, microBatches } = this.#config;
    // A micro-batch of which masks count nothing has no loss.
    const parts = [...partsOf(batch, Math.ceil(batch.featureShape[0] / microBatches))].filter(
      ({ counted }) => counted > 0,
    );
    const samples = parts.reduce((sum, { counted }) => sum + counted, 0);
    for (const { pass, part } of stageSchedule(schedule, ranks.length, this.#stage.stage, parts.length)) {
      if (pass === 'backward') await passes.backward(part);
      else await passes.forward(part, parts[part].batch, parts[part].counted / samples, position);
    }
    const own = passes.take();
    const penalty = parts.length === 0 ? null : await member.penalty();
    const gradients = penalty === null ? own.gradients : addGradients(own.gradients, penalty.gradients);
    return this.#update(member, gradients, own.loss + (penalty?.loss ?? 0), settings);
  }

  state(): LiveStrategyState {
    return { tensors: new Map(), data: { starts: this.#stage.all.map(({ start }) => start) } };
  }

  events(): readonly StrategyEvent[] {
    return this.#events.splice(0);
  }

  /**
   * Agrees on the loss, which the last stage knows without the penalties of the others, and on the norm of all
   * gradients.
   */
  async #update(
    member: Member,
    gradients: Gradient[],
    ownLoss: number,
    settings: UpdateSettings,
  ): Promise<StepOutcome> {
    const { group } = this.#parts();
    const limits = this.#run.optimizer;
    const isClipped = limits.clipNorm > 0;
    const squares = isClipped ? await valueOf(tf.tidy(() => sumOfSquares(boundValues(gradients, limits)))) : 0;
    // All members take their steps together, so that they stop and save at the same one.
    const ofAll = await group.allGather(Float64Array.of(ownLoss, squares));
    const all = this.#stage.ranks.map((rank) => ofAll[group.ranks.indexOf(rank)]);
    const loss = all.reduce((sum, [ofRank]) => sum + ofRank, 0);
    const updated = Number.isFinite(loss);
    if (updated) {
      const total = all.reduce((sum, [, ofRank]) => sum + ofRank, 0);
      tf.tidy(() => {
        const bounded = boundValues(gradients, limits);
        member.applyGradients(isClipped ? scaled(bounded, total, limits.clipNorm) : bounded, settings);
      });
    }
    for (const gradient of gradients) gradient?.dispose();
    return { loss, updated };
  }

  #parts() {
    if (this.#ready !== null) return this.#ready;
    throw new Error('Pipelined training was not set up: call setup before the first step.');
  }
}

function scaled(gradients: readonly Gradient[], squares: number, clipNorm: number): Gradient[] {
  const factor = factorOf(tf.scalar(squares), clipNorm);
  return gradients.map((gradient) => gradient && tf.mul(gradient, factor));
}

async function valueOf(scalar: Tensor): Promise<number> {
  const [value] = await scalar.data();
  scalar.dispose();
  return value;
}

function describeStages({ all }: ModelStage, worldSize: number, microBatches: number): StrategyEvent {
  const members = worldSize / all.length;
  const stages = all.map(({ layers, weights }, stage) => ({
    rank: stage * members,
    ranks: pipelinePlace(stage * members, worldSize, all.length).ofStage,
    layers,
    weights: weights.reduce((sum, { shape }) => sum + shape.reduce<number>((n, size) => n * (size ?? 1), 1), 0),
  }));
  const described = stages.map(
    ({ ranks, layers: [first, last], weights }) =>
      `${members === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')} ` +
      `${first === last ? first : `${first} to ${last}`} (${weights} weights)`,
  );
  const bubble = bubbleFraction(all.length, microBatches);
  const what = members === 1 ? 'The model' : `Each of ${members} members`;
  const message =
    `${what} is spread over ${all.length} ranks: ${described.join(members === 1 ? ', ' : '; ')}. With ` +
    `${microBatches} micro-batches equal ranks wait ${(100 * bubble).toFixed(0)} % of the time.`;
  return { kind: 'stages', message, data: { stages, microBatches, bubble }, points: new Map() };
}

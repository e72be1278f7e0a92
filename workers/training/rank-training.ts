import { pipelinePlace } from '../../core/pipeline/schedule.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import {
  type MemberCount,
  memberCount,
  memberCountOf,
  stagesOf,
} from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { strategyRules } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { modeFor } from '../../core/metrics/metric-mode.ts';
import type { RetentionPolicy } from '../checkpoints/retention.ts';
import type { Callback, Evaluation, StepEnd, Training } from '../callbacks/callback.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import { subsetOf } from '../collectives/rank-subset.ts';
import { readTopology } from '../checkpoints/layers-model.ts';
import { describeDifference, topologyOf } from '../tensorflow/topology.ts';
import type { Dataset } from '../data/dataset.ts';
import type { SpreadModel, Strategy } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { Member } from '../member/member.ts';
import { predictOfRank, predictTogether } from '../member/predict.ts';
import type { Predictions } from '../member/predictions.ts';
import type { Position, Report } from '../member/report.ts';
import type { RunFiles } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import { readWeights } from '../member/weights.ts';

/** How far a rank's training has come. */
export interface TrainingProgress {
  /** Zero-based current epoch or, with `batch` 0, the next one. */
  epoch: number;
  /** Batches done in that epoch. */
  batch: number;
  /** Steps done, whether or not they updated the weights. */
  step: number;
  /** Rendezvous done, or saves between two of them. */
  round: number;
  /** Epochs before the last planned rendezvous: the same on all ranks, which stop at different epochs of a round. */
  rendezvous: number;
  standingBy: boolean;
  /** Whether it stands by because the user stopped it alone. */
  stoppedAlone: boolean;
}

/** What a rank's training needs of its run, beside its data. */
export interface RankSetup {
  config: RunConfig;
  member: Member;
  task: Task;
  strategy: Strategy;
  callbacks: readonly Callback[];
  /** All ranks that train together. */
  group: ProcessGroup;
  /** Ranks that were lost before the group began; absent: none. */
  lostRanks?: readonly number[];
  files: RunFiles;
  report: Report;
}

/**
 * A rank's training as its callbacks see it: its position, its model, its checkpoints and predictions. Where several
 * ranks train one model, callbacks see it as one member on each of them, and only the first of them saves and reports.
 */
export class RankTraining implements Training {
  readonly progress: TrainingProgress;
  readonly files: RunFiles;
  /** The group for the callbacks' collectives. */
  readonly group: ProcessGroup;
  private readonly config: RunConfig;
  private readonly member: Member;
  private readonly task: Task;
  private readonly strategy: Strategy;
  private readonly callbacks: readonly Callback[];
  private readonly allRanks: ProcessGroup;
  private readonly lostBefore: number;
  private readonly report: Report;
  private readonly isOneModel: boolean;
  private isAssembled = false;
  private hasVotedStop = false;
  /** Why the last checkpoint removed no other, if the user's notes could not be read. */
  private retentionProblem: string | null = null;
  private lastPredictions: Predictions | null = null;
  /** SHA-256 of the model's architecture in the run folder; null where it has no description. */
  private topology: string | null = null;

  constructor(setup: RankSetup, progress: TrainingProgress) {
    this.progress = progress;
    this.config = setup.config;
    this.member = setup.member;
    this.task = setup.task;
    this.strategy = setup.strategy;
    this.callbacks = setup.callbacks;
    this.allRanks = setup.group;
    this.lostBefore = setup.lostRanks?.length ?? 0;
    this.files = setup.files;
    this.report = setup.report;
    this.isOneModel = strategyRules[setup.config.strategy.kind].isOneModel;
    this.group = this.isOneModel ? groupOfMembers(setup.config, setup.group) : setup.group;
  }

  get isFirst(): boolean {
    return this.allRanks.rank === this.allRanks.ranks[0];
  }

  get position(): Position {
    return { epoch: this.epoch, step: this.step };
  }

  get rank(): number {
    return this.group.rank;
  }

  get members(): MemberCount {
    return memberCount(memberCountOf(this.config) - this.lostMembers);
  }

  get lostMembers(): number {
    return this.group.lostCount + this.lostBefore;
  }

  get model(): LayersModel {
    return this.member.model;
  }

  get epoch(): number {
    return this.progress.batch > 0 ? this.progress.epoch : Math.max(0, this.progress.epoch - 1);
  }

  get step(): number {
    return this.progress.step;
  }

  get isStandingBy(): boolean {
    return this.progress.standingBy;
  }

  get stopVoted(): boolean {
    return this.hasVotedStop;
  }

  /** SHA-256 of the model's architecture, for its checkpoints; undefined where it has no description. */
  get modelHash(): string | undefined {
    return this.topology ?? undefined;
  }

  /**
   * Saves the model's architecture in the run folder, before the first step.
   * @param earlier the architecture of the resumed attempt. Reports a difference, because the same weights fit many
   * models
   */
  async keepArchitecture(earlier: string | undefined): Promise<void> {
    if (!this.isMember) return;
    const { files } = this;
    const text = this.describeModel();
    if (text === null) return;
    this.topology = await files.keepTopology(text);
    if (this.topology === null || earlier === undefined || earlier === this.topology) return;
    const difference = describeDifference(await readTopology(files.folder, files.rank, earlier), text);
    this.announce(
      'model-changed',
      `The model of rank ${files.rank} differs from that of the earlier attempt: ${difference}.`,
    );
  }

  private describeModel(): string | null {
    try {
      return topologyOf(this.model);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const remedy = 'Checkpoints will need the project in its current state; give its custom layers a getConfig().';
      this.announce(
        'model-not-described',
        `The model of rank ${this.rank} cannot describe itself: ${reason}. ${remedy}`,
      );
      return null;
    }
  }

  /** Calls the callbacks one after the other. */
  async each(call: (callback: Callback) => Promise<void> | undefined): Promise<void> {
    for (const callback of this.callbacks) await call(callback);
  }

  /** Notifies the callbacks of a finished step. */
  endStep(end: StepEnd): void {
    for (const callback of this.callbacks) callback.onStepEnd?.(this, end);
  }

  /** Computes this rank's predictions, and returns the callbacks' metrics of all ranks' predictions. */
  async evaluate(dataset: Dataset, epoch: number): Promise<Map<string, number>> {
    const metrics = new Map<string, number>();
    await this.withModel(async () => {
      const predictions = await this.predict(dataset);
      const evaluation: Evaluation = { dataset, predictions, epoch, metrics };
      await this.each((callback) => callback.onEvaluation?.(this, evaluation));
    });
    return metrics;
  }

  /** The model, where its layers are spread over the ranks. */
  get spread(): SpreadModel | undefined {
    return this.strategy.spread;
  }

  /** This rank's predictions; the last ones for a rank that stands by. */
  async predict(dataset: Dataset): Promise<Predictions> {
    const { member, task, strategy } = this;
    if (strategy.spread !== undefined) return await strategy.spread.predict(dataset);
    if (this.lastPredictions !== null && this.progress.standingBy) return this.lastPredictions;
    this.lastPredictions = this.isOneModel
      ? await predictTogether(this.allRanks, member.model, task, dataset)
      : await predictOfRank(member.model, task, dataset, this.rank);
    return this.lastPredictions;
  }

  /** Calls `use` with the weights to evaluate and save in the model, then restores the rank's training weights. */
  async withModel(use: () => Promise<void>): Promise<void> {
    if (this.isAssembled) return use();
    const restore = await this.putWeights();
    this.isAssembled = true;
    try {
      await use();
    } finally {
      // Also when the hub is gone: the state that is saved then has the trained weights.
      this.isAssembled = false;
      restore();
    }
  }

  /** Puts the weights to evaluate and save into the model for good. */
  async assemble(): Promise<void> {
    await this.putWeights();
    this.isAssembled = true;
  }

  /**
   * Puts the weights to evaluate and save into the model.
   * @returns a function that restores the rank's training weights
   */
  private async putWeights(): Promise<() => void> {
    const { strategy, member } = this;
    strategy.collect?.();
    const restoreTrained = member.average?.exchange();
    try {
      const restore = (await strategy.assemble?.()) ?? null;
      // An average of weights that meet a constraint may not meet it: that of vectors of norm 1 is shorter.
      if ((member.average?.updates ?? 0) > 0) member.constrain();
      return () => {
        restore?.();
        restoreTrained?.();
      };
    } catch (error) {
      restoreTrained?.();
      throw error;
    }
  }

  /** Which checkpoints of this rank stay. Members have equal shares of the quota. */
  private get retention(): RetentionPolicy {
    const { keepLast, keepTop, quotaMiB, mode } = this.config.checkpoints;
    return {
      keepLast,
      keepTop,
      mode: modeFor(this.task.ensembleMonitor, mode) ?? 'min',
      quotaBytes: quotaMiB === 0 ? null : Math.floor((quotaMiB * 2 ** 20) / this.members),
    };
  }

  async saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void> {
    const { files, report, strategy } = this;
    const about = { name, epoch: this.epoch, step: this.step, monitor, score, model: this.modelHash };
    await this.withModel(async () => {
      const weights = (await strategy.spread?.readWeights()) ?? null;
      if (!this.isMember) return;
      const record = await files.saveCheckpoint(weights ?? (await readWeights(this.model)), about);
      if (record === null) return;
      report.checkpoint(record);
      const problem = await files.removeSuperseded(this.retention, name);
      if (problem !== null && this.retentionProblem === null) report.event('checkpoints-kept', problem, this.position);
      this.retentionProblem = problem;
    });
  }

  async savePredictions(name: string, predictions: Predictions): Promise<void> {
    if (this.isMember) await this.files.savePredictions('validation', name, predictions, this.epoch);
  }

  requestStop(): void {
    this.hasVotedStop = true;
  }

  standBy(): void {
    this.progress.standingBy = true;
  }

  /** Ends this rank's training for good, at the user's request. */
  async stopAlone(): Promise<void> {
    this.progress.standingBy = true;
    this.progress.stoppedAlone = true;
    // From now on it contributes predictions of its last weights.
    this.lastPredictions = null;
    const name = `stopped-${this.step}`;
    await this.saveCheckpoint(name, null, null);
    this.announce('rank-stopped', `Stopped alone after step ${this.step}; its checkpoint "${name}" was saved.`);
    this.report.state('standing-by', this.position);
  }

  announce(kind: string, message: string): void {
    if (this.isMember) this.report.event(kind, message, this.position);
  }

  log(metric: string, value: number): void {
    if (this.isMember) this.report.point(metric, value, this.position);
  }

  /** Whether this rank saves and reports as a member of the ensemble. */
  get isMember(): boolean {
    return this.allRanks.rank === this.group.rank;
  }
}

/**
 * The ensemble as each rank of its members sees it: of one model that all ranks train, or of pipelines, where the ranks
 * with the same stage exchange predictions.
 */
function groupOfMembers(config: RunConfig, group: ProcessGroup): ProcessGroup {
  const isOfSeveral = memberCountOf(config) > 1;
  if (!isOfSeveral) return ProcessGroup.alone(group.ranks[0]);
  return subsetOf(group, pipelinePlace(group.rank, group.worldSize, stagesOf(config)).ofStage);
}

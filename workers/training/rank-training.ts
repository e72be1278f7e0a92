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
import type { Callback, StepEnd, Training } from '../callbacks/callback.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import { subsetOf } from '../collectives/rank-subset.ts';
import { readTopology } from '../checkpoints/layers-model.ts';
import { describeDifference, topologyOf } from '../tensorflow/topology.ts';
import type { BatchSource } from '../data/batches.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Strategy } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { Completion } from './completion.ts';
import type { Throttle } from './live-settings.ts';
import type { Controls } from './controls.ts';
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

/** What a trainer works with. */
export interface TrainerParts {
  config: RunConfig;
  member: Member;
  task: Task;
  data: Splits;
  batches: BatchSource;
  sampler: Sampler;
  strategy: Strategy;
  callbacks: readonly Callback[];
  group: ProcessGroup;
  /** Ranks that were lost before the group began; absent: none. */
  lostRanks?: readonly number[];
  /** For a missing member that trains alone; absent or null: the rank trains with the others. */
  completion?: Completion | null;
  files: RunFiles;
  report: Report;
  controls: Controls;
  /** Shared by all ranks of the process; absent: a new one. */
  throttle?: Throttle;
}

/**
 * A rank's training as its callbacks see it: its position, its model, its checkpoints and predictions. Where several
 * ranks train one model, callbacks see it as one member on each of them, and only the first of them saves and reports.
 */
export class RankTraining implements Training {
  readonly parts: TrainerParts;
  readonly progress: TrainingProgress;
  /** The group for the callbacks' collectives. */
  readonly group: ProcessGroup;
  private readonly isOneModel: boolean;
  private isAssembled = false;
  private hasVotedStop = false;
  /** Why the last checkpoint removed no other, if the user's notes could not be read. */
  private retentionProblem: string | null = null;
  private lastPredictions: Predictions | null = null;
  /** SHA-256 of the model's architecture in the run folder; null where it has no description. */
  private topology: string | null = null;

  constructor(parts: TrainerParts, progress: TrainingProgress) {
    this.parts = parts;
    this.progress = progress;
    this.isOneModel = strategyRules[parts.config.strategy.kind].isOneModel;
    this.group = this.isOneModel ? groupOfMembers(parts) : parts.group;
  }

  get isFirst(): boolean {
    return this.parts.group.rank === this.parts.group.ranks[0];
  }

  get position(): Position {
    return { epoch: this.epoch, step: this.step };
  }

  get rank(): number {
    return this.group.rank;
  }

  get members(): MemberCount {
    return memberCount(memberCountOf(this.parts.config) - this.lostMembers);
  }

  get lostMembers(): number {
    return this.group.lostCount + (this.parts.lostRanks?.length ?? 0);
  }

  get model(): LayersModel {
    return this.parts.member.model;
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
    const { folder, rank } = this.parts.files;
    const text = this.describeModel();
    if (text === null) return;
    this.topology = await this.parts.files.keepTopology(text);
    if (this.topology === null || earlier === undefined || earlier === this.topology) return;
    const difference = describeDifference(await readTopology(folder, rank, earlier), text);
    this.announce(
      'model-changed',
      `The model of rank ${rank} differs from that of the earlier attempt: ${difference}.`,
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
    for (const callback of this.parts.callbacks) await call(callback);
  }

  /** Notifies the callbacks of a finished step. */
  endStep(end: StepEnd): void {
    for (const callback of this.parts.callbacks) callback.onStepEnd?.(this, end);
  }

  /** This rank's predictions; the last ones for a rank that stands by. */
  async predict(dataset: Dataset): Promise<Predictions> {
    const { member, task, group, strategy } = this.parts;
    if (strategy.spread !== undefined) return await strategy.spread.predict(dataset);
    if (this.lastPredictions !== null && this.progress.standingBy) return this.lastPredictions;
    this.lastPredictions = this.isOneModel
      ? await predictTogether(group, member.model, task, dataset)
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
    const { strategy, member } = this.parts;
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
    const { keepLast, keepTop, quotaMiB, mode } = this.parts.config.checkpoints;
    return {
      keepLast,
      keepTop,
      mode: modeFor(this.parts.task.ensembleMonitor, mode) ?? 'min',
      quotaBytes: quotaMiB === 0 ? null : Math.floor((quotaMiB * 2 ** 20) / this.members),
    };
  }

  async saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void> {
    const { files, report } = this.parts;
    const about = { name, epoch: this.epoch, step: this.step, monitor, score, model: this.modelHash };
    await this.withModel(async () => {
      const { spread } = this.parts.strategy;
      const weights = spread === undefined ? null : await spread.readWeights();
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
    if (this.isMember) await this.parts.files.savePredictions('validation', name, predictions, this.epoch);
  }

  requestStop(): void {
    this.hasVotedStop = true;
  }

  standBy(): void {
    this.progress.standingBy = true;
  }

  /** Stands by at the user's request. Its predictions are from now on those of its last weights. */
  standByAlone(): void {
    this.progress.standingBy = true;
    this.progress.stoppedAlone = true;
    this.lastPredictions = null;
  }

  announce(kind: string, message: string): void {
    if (this.isMember) this.parts.report.event(kind, message, this.position);
  }

  log(metric: string, value: number): void {
    if (this.isMember) this.parts.report.point(metric, value, this.position);
  }

  /** Whether this rank saves and reports as a member of the ensemble. */
  get isMember(): boolean {
    return this.parts.group.rank === this.group.rank;
  }
}

/**
 * The ensemble as each rank of its members sees it: of one model that all ranks train, or of pipelines, where the ranks
 * with the same stage exchange predictions.
 */
function groupOfMembers({ config, group }: TrainerParts): ProcessGroup {
  const isOfSeveral = memberCountOf(config) > 1;
  if (!isOfSeveral) return ProcessGroup.alone(group.ranks[0]);
  return subsetOf(group, pipelinePlace(group.rank, group.worldSize, stagesOf(config)).ofStage);
}

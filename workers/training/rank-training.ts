import type { RunConfig } from '../../core/protocol/run/config.ts';
import { memberCountOf, strategyRules } from '../../core/protocol/run/strategy-rules.ts';
import type { Callback, StepEnd, Training } from '../callbacks/callback.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import { describeDifference, keepTopology, readTopology, topologyOf } from '../checkpoints/model-topology.ts';
import type { BatchSource } from '../data/batches.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Strategy } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { Breath } from './throttle.ts';
import type { Controls } from './controls.ts';
import type { Member } from '../member/member.ts';
import { predict, predictTogether, type Predictions } from '../member/predict.ts';
import type { Position, Report } from '../member/report.ts';
import type { RunFiles } from '../member/run-files.ts';
import type { TrainingProgress } from './saved-state.ts';
import type { Task } from '../member/tasks.ts';
import { readWeights } from '../member/weights.ts';

/** What a trainer puts together; nothing of it knows the trainer. */
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
  files: RunFiles;
  report: Report;
  controls: Controls;
  /** That of all ranks of the process; absent: one of its own. */
  breath?: Breath;
}

/**
 * A rank's training as its callbacks see it: where it stands, its model, and what is kept of it. Where all ranks train one model, callbacks see
 * an ensemble of one on every rank, and only the first rank keeps and tells what they say.
 */
export class RankTraining implements Training {
  readonly parts: TrainerParts;
  readonly progress: TrainingProgress;
  /** What callbacks exchange with. */
  readonly group: ProcessGroup;
  private readonly isOneModel: boolean;
  private isAssembled = false;
  private hasVotedStop = false;
  private lastPredictions: Predictions | null = null;
  /** What names the model's architecture in the run folder; null where it has no description. */
  private topology: string | null = null;

  constructor(parts: TrainerParts, progress: TrainingProgress) {
    this.parts = parts;
    this.progress = progress;
    this.isOneModel = strategyRules[parts.config.strategy.kind].isOneModel;
    this.group = this.isOneModel ? ProcessGroup.alone(parts.group.ranks[0]) : parts.group;
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

  get members(): number {
    return memberCountOf(this.parts.config);
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

  /** SHA-256 of the model's architecture, which its checkpoints name; undefined where it has none. */
  get modelHash(): string | undefined {
    return this.topology ?? undefined;
  }

  /**
   * Keeps the model's architecture in the run folder, before the first step changes anything of it.
   * @param earlier that of the attempt that this one resumes: a difference is reported, because the same weights fit many models
   */
  async keepArchitecture(earlier: string | undefined): Promise<void> {
    if (!this.keeps) return;
    const { folder, rank } = this.parts.files;
    const text = this.describeModel();
    if (text === null) return;
    this.topology = await keepTopology(folder, rank, text);
    if (earlier === undefined || earlier === this.topology) return;
    const difference = describeDifference(await readTopology(folder, rank, earlier), text);
    this.announce('model-changed', `The model of rank ${rank} is not that of the earlier attempt: ${difference}.`);
  }

  private describeModel(): string | null {
    try {
      return topologyOf(this.model);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const remedy = 'Checkpoints will need the project as it is now; give its own layers a getConfig().';
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

  /** Tells the callbacks of a step that was done. */
  endStep(end: StepEnd): void {
    for (const callback of this.parts.callbacks) callback.onStepEnd?.(this, end);
  }

  /** Of a rank that stands by, those it made last. */
  async predict(dataset: Dataset): Promise<Predictions> {
    const { member, task, group } = this.parts;
    if (this.lastPredictions !== null && this.progress.standingBy) return this.lastPredictions;
    this.lastPredictions = this.isOneModel
      ? await predictTogether(group, member.model, task, dataset)
      : await predict(member.model, task, dataset);
    return this.lastPredictions;
  }

  /** Does something with the weights that are evaluated and kept; a rank's own are back after it. */
  async withModel(use: () => Promise<void>): Promise<void> {
    if (this.isAssembled) return use();
    const restore = (await this.parts.strategy.assemble?.()) ?? null;
    this.isAssembled = true;
    await use();
    this.isAssembled = false;
    restore?.();
  }

  /** Leaves the rank with those weights for good. */
  async assemble(): Promise<void> {
    await this.parts.strategy.assemble?.();
    this.isAssembled = true;
  }

  async saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void> {
    const { files, report } = this.parts;
    const about = { name, epoch: this.epoch, step: this.step, monitor, score, model: this.modelHash };
    await this.withModel(async () => {
      if (this.keeps) report.checkpoint(await files.saveCheckpoint(await readWeights(this.model), about));
    });
  }

  async savePredictions(name: string, predictions: Predictions): Promise<void> {
    if (this.keeps) await this.parts.files.savePredictions('validation', name, predictions, this.epoch);
  }

  requestStop(): void {
    this.hasVotedStop = true;
  }

  standBy(): void {
    this.progress.standingBy = true;
  }

  /** Stands by because the user wants it; its predictions are those of its last weights from now on. */
  standByAlone(): void {
    this.progress.standingBy = true;
    this.progress.stoppedAlone = true;
    this.lastPredictions = null;
  }

  announce(kind: string, message: string): void {
    if (this.keeps) this.parts.report.event(kind, message, this.position);
  }

  log(metric: string, value: number): void {
    if (this.keeps) this.parts.report.point(metric, value, this.position);
  }

  /** Whether this rank is a member of the ensemble, and so keeps what belongs to one. */
  private get keeps(): boolean {
    return !this.isOneModel || this.isFirst;
  }
}

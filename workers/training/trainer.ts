import type { RunConfig } from '../../protocol/run-config.ts';
import type { RunSummary } from '../../protocol/run-record.ts';
import { settingsOf } from '../../protocol/run-settings.ts';
import { memberCountOf, strategyRules } from '../../protocol/strategy-rules.ts';
import type { Callback, Evaluation, Training } from '../callbacks/callback.ts';
import { ProcessGroup } from '../collectives/process-group.ts';
import type { BatchSource } from '../data/batches.ts';
import type { Dataset, Splits } from '../data/dataset.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Strategy, StrategyState } from '../strategies/strategy.ts';
import type { LayersModel } from '../tf.ts';
import { Breath } from './breath.ts';
import type { Controls } from './controls.ts';
import { History } from './history.ts';
import { LiveSettings } from './live-settings.ts';
import { Lockstep } from './lockstep.ts';
import { LossMeter } from './loss-meter.ts';
import type { Member } from './member.ts';
import { predict, predictTogether, type Predictions } from './predict.ts';
import { type AgreedRound, agreeOnEnd, agreeOnRound } from './rendezvous.ts';
import type { Position, Report } from './report.ts';
import type { RunFiles } from './run-files.ts';
import { settingsAt } from './schedules.ts';
import { type ResumedTraining, saveTrainingState, type TrainingProgress } from './saved-state.ts';
import type { Task } from './tasks.ts';
import { readWeights } from './weights.ts';

export type StopReason = RunSummary['stopReason'];

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
 * Trains one rank. Ranks run freely between rendezvous (or in lockstep, where they exchange), one every
 * `evaluateEveryEpochs` epochs: there they agree that all is well, evaluate together and decide together whether to go on. A rank
 * that has ended before the others stands by and brings its last predictions.
 *
 * Where all ranks train one model, callbacks see an ensemble of one on every rank, and only the first rank keeps and tells what they
 * say.
 */
export class Trainer implements Training {
  readonly parts: TrainerParts;
  readonly history: History;
  readonly totalSteps: number;
  readonly progress: TrainingProgress;
  readonly meter: LossMeter;
  readonly settings: LiveSettings;
  /** Null where ranks run freely. */
  private readonly lockstep: Lockstep | null;
  private readonly savedStrategy: StrategyState | null;
  private readonly isOneModel: boolean;
  /** What callbacks exchange with. */
  readonly group: ProcessGroup;
  private isAssembled = false;
  private stopVoted = false;
  private predictions: Predictions | null = null;
  private readonly breath: Breath;
  private lastStateMs = performance.now();

  /** `resumed` is what an earlier attempt left; the member's weights and optimizer are already as it left them. */
  constructor(parts: TrainerParts, resumed?: ResumedTraining) {
    this.parts = parts;
    this.history = resumed?.history ?? new History();
    this.progress = resumed?.progress ?? {
      epoch: 0,
      batch: 0,
      step: 0,
      round: 0,
      standingBy: false,
      stoppedAlone: false,
    };
    this.settings = new LiveSettings(resumed?.settings ?? settingsOf(parts.config), parts.callbacks, parts.report);
    this.totalSteps = plannedSteps(parts.config, parts.sampler);
    this.breath = parts.breath ?? new Breath();
    this.meter = new LossMeter(parts.report, parts.config.logEverySteps, parts.group.rank, resumed?.losses);
    const isLockstep = parts.strategy.isLockstep || parts.batches.isLockstep;
    this.lockstep = isLockstep ? new Lockstep(parts.group, parts.controls) : null;
    this.savedStrategy = resumed?.strategy ?? null;
    this.isOneModel = strategyRules[parts.config.strategy.kind].isOneModel;
    this.group = this.isOneModel ? ProcessGroup.alone(parts.group.ranks[0]) : parts.group;
  }

  /** Trains until the last step, an early stop or a request, whichever comes first. */
  async fit(): Promise<StopReason> {
    await this.parts.strategy.setup(this.parts.member, this.parts.group, this.savedStrategy);
    this.reportEvents();
    for (;;) {
      await this.trainRound();
      const { stopRequested, position } = await this.agreeThatAllIsWell();
      await this.evaluate(position);
      const end = await this.agreeOnEnd(stopRequested);
      if (end !== null) {
        await this.parts.strategy.assemble?.();
        this.isAssembled = true;
        await this.each((callback) => callback.onFitEnd?.(this));
        return end;
      }
    }
  }

  /** Up to the next rendezvous: the epochs in between, unless something ends them early. */
  private async trainRound(): Promise<void> {
    const { config, sampler, report, controls } = this.parts;
    const { progress } = this;
    const rounds = Math.floor(progress.epoch / config.evaluateEveryEpochs) + 1;
    const lastEpoch = Math.min(config.maxEpochs, rounds * config.evaluateEveryEpochs);
    report.state(progress.standingBy ? 'standing-by' : 'training', this.position);
    this.meter.beginRound();
    this.lockstep?.begin(false);
    await this.lockstep?.end();
    // What was asked for since the last step, or of a rank that stands by and does none.
    await this.heedControls();
    while (progress.epoch < lastEpoch && !this.mustHalt()) {
      const done = progress.batch;
      let index = 0;
      for (const indices of sampler.batches(progress.epoch)) {
        if (index++ < done) continue;
        await this.trainStep(indices);
        if (this.mustHalt()) break;
      }
      if (progress.batch === sampler.batchesPerEpoch) await this.endEpoch();
      if (controls.stopAtEpochEndRequested) break;
    }
    const settled = await this.parts.strategy.settle?.();
    if (settled) this.meter.add(settled, this.position);
  }

  private async trainStep(indices: Int32Array): Promise<void> {
    const { config, member, strategy, batches } = this.parts;
    const position = { epoch: this.progress.epoch, step: this.progress.step, totalSteps: this.totalSteps };
    const settings = settingsAt(config.schedule, this.settings.now.learningRate, position);
    this.lockstep?.begin(this.hasFailed);
    const batch = await batches.batch(indices);
    const outcome = await strategy.trainStep(member, batch, settings, position);
    this.progress.batch += 1;
    this.progress.step += 1;
    if (outcome !== null) this.meter.add(outcome, this.position);
    this.meter.endStep(indices.length, this.position, outcome?.learningRate ?? settings.learningRate);
    this.reportStrategy();
    await this.breath.take(() => this.meter.tellProgress(this.position));
    await this.lockstep?.end();
    await this.waitWhilePaused();
    await this.heedControls();
  }

  private reportStrategy(): void {
    const { config, strategy, report } = this.parts;
    this.reportEvents();
    if (this.progress.step % config.logEverySteps !== 0) return;
    for (const [name, value] of strategy.points?.() ?? []) report.point(name, value, this.position);
  }

  private reportEvents(): void {
    const { strategy, report } = this.parts;
    for (const { kind, message, data, points } of strategy.events?.() ?? []) {
      if (this.isFirst) report.event(kind, message, this.position, data);
      for (const [name, value] of points) report.point(name, value, this.position);
    }
  }

  private async endEpoch(): Promise<void> {
    await this.each((callback) => callback.onEpochEnd?.(this));
    this.progress.epoch += 1;
    this.progress.batch = 0;
  }

  /** First half of the rendezvous. @throws NonFiniteLossError on every rank when the loss of one was not finite */
  private async agreeThatAllIsWell(): Promise<AgreedRound> {
    const { config, group, controls, report } = this.parts;
    const { position } = this;
    const { meanLoss, nonFinite } = this.meter.endRound(position);
    const own = { position, meanLoss, nonFinite, stopRequested: controls.stopReceived };
    const agreed = await agreeOnRound(group, own);
    if (agreed.nonFinite !== null && config.onNonFinite === 'stop') throw new NonFiniteLossError(agreed.nonFinite);
    if (this.isFirst && !Number.isNaN(agreed.meanLoss)) report.point('train/loss', agreed.meanLoss, agreed.position);
    return agreed;
  }

  /** This rank's predictions, then the callbacks' metrics of all ranks' predictions, which belong to `position`. */
  private async evaluate(position: Position): Promise<void> {
    const { data, report } = this.parts;
    const dataset = data.validation;
    if (dataset === undefined) return;
    report.state('evaluating', this.position);
    const { epoch, step } = position;
    const metrics = new Map<string, number>();
    await this.withModel(async () => {
      const predictions = await this.predict(dataset);
      const evaluation: Evaluation = { dataset, predictions, epoch, metrics };
      await this.each((callback) => callback.onEvaluation?.(this, evaluation));
    });
    this.history.record(metrics, epoch, step);
    if (!this.isFirst) return;
    for (const [name, value] of metrics) report.point(name, value, position);
  }

  /** Of a rank that stands by, those it made last. */
  private async predict(dataset: Dataset): Promise<Predictions> {
    const { member, task, group } = this.parts;
    if (this.predictions !== null && this.progress.standingBy) return this.predictions;
    this.predictions = this.isOneModel
      ? await predictTogether(group, member.model, task, dataset)
      : await predict(member.model, task, dataset);
    return this.predictions;
  }

  /** Does something with the weights that are evaluated and kept; a rank's own are back after it. */
  private async withModel(use: () => Promise<void>): Promise<void> {
    if (this.isAssembled) return use();
    const restore = (await this.parts.strategy.assemble?.()) ?? null;
    this.isAssembled = true;
    await use();
    this.isAssembled = false;
    restore?.();
  }

  /** Second half of the rendezvous: whether to go on, and whether to save the state, decided once for all ranks. */
  private async agreeOnEnd(stopRequested: boolean): Promise<StopReason | null> {
    const { config, group, report } = this.parts;
    const stateAgeMs = performance.now() - this.lastStateMs;
    const { end, stateDue } = await agreeOnEnd(group, stopRequested, {
      stopVoted: this.stopVoted,
      done: this.progress.epoch >= config.maxEpochs || this.progress.step >= this.totalSteps,
      standingBy: this.progress.standingBy,
      stoppedAlone: this.progress.stoppedAlone,
      stateDue: stateAgeMs >= config.checkpoints.stateEverySeconds * 1000,
    });
    this.progress.round += 1;
    if (end !== null || stateDue) {
      // Else a hub that dies now would leave a gap before the step that a resumed run goes on from. Ranks may be one save apart, so
      // the first rank's waiting does for all.
      if (this.isFirst) await report.recorded();
      await saveTrainingState(this);
      this.lastStateMs = performance.now();
    }
    return end;
  }

  /** Whether this rank's training must end before the round does. */
  private mustHalt(): boolean {
    const { controls } = this.parts;
    const failed = this.lockstep === null ? this.hasFailed : this.lockstep.mustHalt;
    return failed || controls.stopRequested || this.progress.standingBy || this.progress.step >= this.totalSteps;
  }

  /** Whether this rank's loss was not finite where that ends the run. */
  private get hasFailed(): boolean {
    return this.meter.nonFinite !== null && this.parts.config.onNonFinite === 'stop';
  }

  private async waitWhilePaused(): Promise<void> {
    const { controls, report } = this.parts;
    if (!controls.isPaused) return;
    const startedMs = performance.now();
    report.state('paused', this.position);
    while (controls.isPaused && !controls.rankStopRequested) {
      const next = controls.next();
      await this.keepRequestedCheckpoints();
      await next;
    }
    this.meter.leaveOut(performance.now() - startedMs);
    report.state('training', this.position);
  }

  /** Does what the user asked of this rank, between two of its steps. */
  private async heedControls(): Promise<void> {
    const { controls } = this.parts;
    this.settings.adopt(controls.settings, this.position);
    await this.keepRequestedCheckpoints();
    if (controls.rankStopRequested && !this.progress.standingBy) await this.stopAlone();
  }

  /** Ends this rank's training for good; its predictions are those of its last weights from now on. */
  private async stopAlone(): Promise<void> {
    const name = `stopped-${this.step}`;
    this.progress.standingBy = true;
    this.progress.stoppedAlone = true;
    this.predictions = null;
    await this.saveCheckpoint(name, null, null);
    this.announce('rank-stopped', `Stopped alone after step ${this.step}; its checkpoint "${name}" is kept.`);
    this.parts.report.state('standing-by', this.position);
  }

  private async keepRequestedCheckpoints(): Promise<void> {
    for (const name of this.parts.controls.checkpointNames.splice(0)) await this.saveCheckpoint(name, null, null);
  }

  private async each(call: (callback: Callback) => Promise<void> | undefined): Promise<void> {
    for (const callback of this.parts.callbacks) await call(callback);
  }

  private get isFirst(): boolean {
    return this.parts.group.rank === this.parts.group.ranks[0];
  }

  private get position(): Position {
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

  async saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void> {
    const { files, report } = this.parts;
    const about = { name, epoch: this.epoch, step: this.step, monitor, score };
    await this.withModel(async () => {
      if (this.keeps) report.checkpoint(await files.saveCheckpoint(await readWeights(this.model), about));
    });
  }

  async savePredictions(name: string, predictions: Predictions): Promise<void> {
    if (this.keeps) await this.parts.files.savePredictions('validation', name, predictions, this.epoch);
  }

  /** Whether this rank is a member of the ensemble, and so keeps what belongs to one. */
  private get keeps(): boolean {
    return !this.isOneModel || this.isFirst;
  }

  requestStop(): void {
    this.stopVoted = true;
  }

  standBy(): void {
    this.progress.standingBy = true;
  }

  announce(kind: string, message: string): void {
    if (this.keeps) this.parts.report.event(kind, message, this.position);
  }
}

/** All ranks throw it at the same rendezvous, also those whose loss was well. */
export class NonFiniteLossError extends Error {
  override name = 'NonFiniteLossError';
  readonly at: Position & { rank: number };

  constructor(at: Position & { rank: number }) {
    super(
      `The training loss of rank ${at.rank} was not finite at epoch ${at.epoch}, step ${at.step}; that update was not made and all ` +
        'ranks stopped. Lower the learning rate or look at the data; --on-non-finite skip leaves such updates out instead.',
    );
    this.at = at;
  }
}

/** Steps that a rank's training has at most. */
export function plannedSteps(config: RunConfig, sampler: Sampler): number {
  const steps = config.maxEpochs * sampler.batchesPerEpoch;
  return config.maxSteps > 0 ? Math.min(config.maxSteps, steps) : steps;
}

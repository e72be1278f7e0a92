import type { RunConfig } from '../../core/protocol/run/config.ts';
import { settingsOf } from '../../core/protocol/run/settings.ts';
import { mayShrink } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { CollectiveError } from '../../core/protocol/wire/collectives.ts';
import type { Callback } from '../callbacks/callback.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { BatchSource } from '../data/batches.ts';
import type { Batch, Splits } from '../data/dataset.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Member } from '../member/member.ts';
import type { Position, Report } from '../member/report.ts';
import type { RunFiles } from '../member/run-files.ts';
import type { UpdateSettings } from '../optimizers/optimizer.ts';
import type { StepOutcome, Strategy } from '../strategies/strategy.ts';
import { type Completion, joinOthers } from './completion.ts';
import { type Controls, Throttle } from './controls.ts';
import { History } from './history.ts';
import { LiveSettings } from './live-settings.ts';
import { LossMeter } from './loss-meter.ts';
import { type RankSetup, RankTraining } from './rank-training.ts';
import {
  type AgreedRound,
  agreeOnEnd,
  agreeOnRendezvous,
  agreeOnRound,
  Lockstep,
  NonFiniteLossError,
  type StopReason,
} from './rendezvous.ts';
import { RoundPlan } from './round-plan.ts';
import type { ResumedTraining, TrainingToSave } from './saved-state.ts';
import { StateSaver } from './state-saver.ts';

/** What a trainer works with. */
export interface TrainerSetup extends RankSetup {
  data: Splits;
  batches: BatchSource;
  sampler: Sampler;
  /** Where a missing member that trains alone ends; absent or null: the rank trains with the others. */
  completion?: Completion | null;
  controls: Controls;
  /** Shared by all ranks of the process; absent: a new one. */
  throttle?: Throttle;
}

const start = { epoch: 0, batch: 0, step: 0, round: 0, rendezvous: 0, standingBy: false, stoppedAlone: false };

/**
 * Trains one rank. Ranks meet at a rendezvous every `evaluateEveryEpochs` epochs: they compare losses, evaluate
 * together and decide together whether to continue. In between they run independently, or in lockstep where they
 * exchange. A rank that ends before the others stands by and contributes its last predictions.
 */
export class Trainer implements TrainingToSave {
  readonly config: RunConfig;
  readonly member: Member;
  readonly strategy: Strategy;
  readonly callbacks: readonly Callback[];
  readonly group: ProcessGroup;
  readonly files: RunFiles;
  readonly report: Report;
  readonly controls: Controls;
  readonly training: RankTraining;
  readonly history: History;
  readonly meter: LossMeter;
  readonly settings: LiveSettings;
  private readonly validation: Splits['validation'];
  private readonly batches: BatchSource;
  private readonly sampler: Sampler;
  private readonly completion: Completion | null;
  private readonly throttle: Throttle;
  private readonly states: StateSaver;
  private readonly plan: RoundPlan;
  /** Null where ranks run independently. */
  private readonly lockstep: Lockstep | null;
  private readonly resumed: ResumedTraining | undefined;
  /** Points of this rendezvous that are the same on all ranks. */
  private readonly agreedPoints: ResumedTraining['points'] = [];

  /** @param resumed the state of an earlier attempt; the member's weights and optimizer have theirs already */
  constructor(setup: TrainerSetup, resumed?: ResumedTraining) {
    this.config = setup.config;
    this.member = setup.member;
    this.strategy = setup.strategy;
    this.callbacks = setup.callbacks;
    this.group = setup.group;
    this.files = setup.files;
    this.report = setup.report;
    this.controls = setup.controls;
    this.validation = setup.data.validation;
    this.batches = setup.batches;
    this.sampler = setup.sampler;
    this.completion = setup.completion ?? null;
    this.throttle = setup.throttle ?? new Throttle();
    this.resumed = resumed;
    this.training = new RankTraining(setup, resumed?.progress ?? { ...start });
    this.history = resumed?.history ?? new History();
    this.settings = new LiveSettings(setup, resumed?.settings ?? settingsOf(this.config), this.training.progress);
    this.meter = new LossMeter(this.report, this.config.logEverySteps, this.group.rank, resumed?.losses);
    const isLockstep = this.strategy.isLockstep || this.batches.isLockstep;
    this.lockstep = isLockstep ? new Lockstep(this.group, this.controls) : null;
    this.plan = new RoundPlan(setup, this.training.progress, this.meter, this.lockstep);
    this.states = new StateSaver(this, isLockstep);
  }

  /** The most steps that this rank does. */
  get totalSteps(): number {
    return this.plan.totalSteps;
  }

  /** Trains until the last step, an early stop or a stop request, whichever comes first. */
  async fit(): Promise<StopReason> {
    try {
      await this.begin();
      for (;;) {
        await this.trainRound();
        const agreed = await this.agreeOnRound();
        if (!agreed.isComplete) await this.states.saveWithinRound();
        await this.evaluateRound(agreed);
        const end = await this.agreeOnEnd(agreed);
        if (end !== null) {
          await this.finish();
          return end;
        }
      }
    } catch (error) {
      if (this.controls.isHubGone) await this.states.saveAlone();
      throw error;
    }
  }

  private async begin(): Promise<void> {
    const { group, member, resumed, strategy, training } = this;
    await training.keepArchitecture(resumed?.model);
    if (this.lockstep !== null) await group.mapSlots();
    await strategy.setup(member, group, resumed?.strategy ?? null, resumed && training.position);
    this.reportStrategyEvents();
    if (resumed === undefined) return;
    if (resumed.schedule !== undefined && training.isFirst && (strategy.followsSchedule?.() ?? true)) {
      this.settings.announceJump(resumed.schedule, training.progress, training.position);
    }
    training.progress.rendezvous = await agreeOnRendezvous(group, training.progress);
    for (const damage of await this.files.putReplacedBack()) training.announce('file-damaged', damage);
    await strategy.repeatBegun?.(member, () => this.lastBatch());
    for (const { name, value, ...position } of resumed.points) this.report.point(name, value, position);
  }

  /** The batch of the step before the present position. */
  private async lastBatch(): Promise<Batch> {
    const { batches, sampler } = this;
    const { epoch, batch, step } = this.training.progress;
    const [ofEpoch, index] = batch > 0 ? [epoch, batch - 1] : [epoch - 1, sampler.batchesPerEpoch - 1];
    return await batches.batch([...sampler.batches(ofEpoch)][index], { epoch: ofEpoch, batch: index, step: step - 1 });
  }

  /** Trains up to the next rendezvous: all epochs before it, unless something ends them early. */
  private async trainRound(): Promise<void> {
    const { plan, sampler, training } = this;
    const { progress } = training;
    this.report.state(progress.standingBy ? 'standing-by' : 'training', training.position);
    this.meter.beginTraining();
    this.lockstep?.begin(false);
    await this.lockstep?.end();
    // Requests since the last step, or to a rank that stands by and does no step.
    await this.handleRequests();
    while (progress.epoch < plan.lastEpoch && !plan.mustHalt) {
      const done = progress.batch;
      let index = 0;
      for (const indices of sampler.batches(progress.epoch)) {
        if (index++ < done) continue;
        await this.trainStep(indices);
        if (plan.mustHalt) break;
      }
      if (progress.batch === sampler.batchesPerEpoch) await this.endEpoch();
      if (this.controls.stopAtEpochEndRequested) break;
    }
    await this.endRoundTraining();
  }

  /** Trains on the samples of these indices, and moves one step on. */
  private async trainStep(indices: Int32Array): Promise<void> {
    const { lockstep, training } = this;
    const { progress } = training;
    this.states.beginStep();
    lockstep?.begin(this.plan.hasFailed);
    const { totalSteps } = this.settings;
    const position = { epoch: progress.epoch, step: progress.step, totalSteps, rank: this.files.rank };
    const settings = this.settings.at(position);
    const batch = await this.batches.batch(indices, { ...position, batch: progress.batch });
    const outcome = await this.strategy.trainStep(this.member, batch, settings, position);
    progress.batch += 1;
    progress.step += 1;
    this.endStep(indices.length, outcome, settings);
    await this.throttle.afterStep(() => this.meter.reportProgress(training.position));
    await lockstep?.end();
    await this.waitWhilePaused();
    await this.handleRequests();
  }

  /** Reports a step. @param outcome null where the batch's update comes with a later step */
  private endStep(samples: number, outcome: StepOutcome | null, settings: UpdateSettings): void {
    const { report, training } = this;
    const { position } = training;
    const learningRate = outcome?.learningRate ?? settings.learningRate;
    if (outcome !== null) this.meter.add(outcome, position);
    this.meter.endStep(samples, position, learningRate);
    training.endStep({ loss: outcome?.loss ?? null, learningRate });
    this.reportStrategyEvents();
    if (position.step % this.config.logEverySteps !== 0) return;
    for (const [name, value] of this.strategy.points?.() ?? []) report.point(name, value, position);
  }

  private reportStrategyEvents(): void {
    const { report, training } = this;
    for (const { kind, message, data, points } of this.strategy.events?.() ?? []) {
      if (training.isFirst) report.event(kind, message, training.position, data);
      for (const [name, value] of points) report.point(name, value, training.position);
    }
  }

  private async endEpoch(): Promise<void> {
    await this.training.each((callback) => callback.onEpochEnd?.(this.training));
    this.training.progress.epoch += 1;
    this.training.progress.batch = 0;
  }

  private async endRoundTraining(): Promise<void> {
    // In lockstep, a rank that ends its round because the hub is gone is not where the others are.
    if (this.lockstep !== null) this.requireHub();
    const { isRoundComplete } = this.plan;
    const end = (): void => {
      this.meter.endTraining();
      this.states.beginRendezvous();
    };
    if (!isRoundComplete) end();
    const settled = await this.strategy.settle?.();
    if (settled) this.meter.add(settled, this.training.position);
    if (isRoundComplete) end();
    this.requireHub();
  }

  private requireHub(): void {
    if (this.controls.isHubGone) throw new CollectiveError('The hub is gone, so that the ranks cannot meet.');
  }

  /**
   * First half of the rendezvous: merges the round's outcomes.
   *
   * @throws NonFiniteLossError on every rank when the loss of one was not finite
   * @throws ReplicasDifferError on every rank when ranks that train one model hold different weights
   */
  private async agreeOnRound(): Promise<AgreedRound> {
    const { controls, group, plan, training } = this;
    const { position } = training;
    const { meanLoss, nonFinite } = this.meter;
    const agreed = await agreeOnRound(group, {
      position,
      meanLoss,
      nonFinite,
      stopRequested: controls.stopReceived,
      isComplete: plan.isRoundComplete,
      isAtPlannedEnd: plan.isAtPlannedEnd,
    });
    if (agreed.nonFinite !== null && this.config.onNonFinite === 'stop') {
      this.stopOnNonFinite(agreed.nonFinite, nonFinite);
    }
    await this.strategy.verify?.(this.member, position);
    return agreed;
  }

  /** All ranks stop, or only those whose loss was not finite, if the others may continue without them. */
  private stopOnNonFinite(agreed: Position & { rank: number }, own: Position | null): void {
    if (!mayShrink(this.config)) throw new NonFiniteLossError(agreed);
    if (own !== null) throw new NonFiniteLossError({ ...own, rank: this.group.rank }, 'It');
  }

  /** Reports the round's losses, and evaluates. */
  private async evaluateRound({ meanLoss, position, isComplete, isPlanned }: AgreedRound): Promise<void> {
    this.meter.reportRound(this.training.position);
    // The mean over the members that were there stays that of their rendezvous.
    const isKnown = !Number.isNaN(meanLoss) && this.completion === null;
    this.agreedPoints.splice(0, Infinity, ...(isKnown ? [{ name: 'train/loss', value: meanLoss, ...position }] : []));
    this.reportAgreed();
    if (isPlanned) {
      this.training.progress.rendezvous = this.plan.plannedEnd;
      this.meter.nextRound();
    }
    if (isComplete) await this.evaluate(position);
    else await this.files.keepReplaced(() => this.evaluate(position));
  }

  /**
   * Computes this rank's predictions, then the callbacks' metrics of all ranks' predictions, reported at `position`.
   */
  private async evaluate(position: Position): Promise<void> {
    const { training, validation } = this;
    if (validation === undefined) return;
    this.report.state('evaluating', training.position);
    const metrics = await training.evaluate(validation, position.epoch);
    this.history.record(metrics, position.epoch, position.step);
    for (const [name, value] of metrics) this.agreedPoints.push({ name, value, ...position });
    this.reportAgreed();
  }

  /**
   * Reports what all ranks agree on, on the first rank. Call it again after a collective: the first rank may have been
   * lost.
   */
  private reportAgreed(): void {
    if (!this.training.isFirst) return;
    for (const { name, value, ...position } of this.agreedPoints.splice(0)) this.report.point(name, value, position);
  }

  /** Second half of the rendezvous: decides for all ranks whether to end, and whether to save the state. */
  private async agreeOnEnd({ stopRequested, isComplete }: AgreedRound): Promise<StopReason | null> {
    const { progress, stopVoted } = this.training;
    const { end, stateDue } = await agreeOnEnd(this.group, stopRequested, {
      stopVoted,
      done: this.plan.isDone,
      standingBy: progress.standingBy,
      stoppedAlone: progress.stoppedAlone,
      stateDue: this.states.isDue,
    });
    this.reportAgreed();
    if (!isComplete) return end;
    this.states.endRendezvous();
    progress.round += 1;
    if (end !== null || stateDue) await this.states.saveAfterEvaluation();
    return end;
  }

  /** Brings a missing member to the round of the others before its last save, so that they can resume together. */
  beforeSave(): void {
    const { completion, group, history, training } = this;
    if (completion === null || training.step < this.plan.lastStep) return;
    joinOthers(completion, { rank: group.rank, progress: training.progress, history });
  }

  private async finish(): Promise<void> {
    // A rank in lockstep that ended while another lacks the last answer could no longer resume together with it.
    if (this.lockstep !== null) await this.group.barrier();
    await this.training.assemble();
    await this.training.each((callback) => callback.onFitEnd?.(this.training));
  }

  /** Carries out the user's requests to this rank, between its steps. */
  private async handleRequests(): Promise<void> {
    const { controls, training } = this;
    this.settings.adopt(controls.settings, training.position);
    await this.saveRequested();
    if (controls.rankStopRequested && !training.isStandingBy) await training.stopAlone();
  }

  private async saveRequested(): Promise<void> {
    for (const name of this.controls.checkpointNames.splice(0)) await this.training.saveCheckpoint(name, null, null);
  }

  /** Waits while training is paused, and saves requested checkpoints. The time does not count as training. */
  private async waitWhilePaused(): Promise<void> {
    const { controls, report, strategy, training } = this;
    if (!controls.isPaused) return;
    const startedMs = performance.now();
    report.state('paused', training.position);
    strategy.pause?.(true);
    while (controls.isPaused && !controls.rankStopRequested && !controls.isHubGone) {
      const next = controls.next();
      await this.saveRequested();
      await next;
    }
    strategy.pause?.(false);
    this.meter.excludePause(performance.now() - startedMs);
    report.state('training', training.position);
  }
}

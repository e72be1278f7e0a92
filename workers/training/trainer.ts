import { CollectiveError } from '../../core/protocol/wire/collectives.ts';
import { settingsOf } from '../../core/protocol/run/settings.ts';
import { mayShrink } from '../../core/protocol/run/strategies/strategy-rules.ts';
import type { StrategyState } from '../strategies/strategy.ts';
import { joinOthers } from './completion.ts';
import { History } from './history.ts';
import { LiveSettings, Throttle } from './live-settings.ts';
import { LossMeter } from './loss-meter.ts';
import {
  type AgreedRound,
  agreeOnEnd,
  agreeOnRendezvous,
  agreeOnRound,
  Lockstep,
  NonFiniteLossError,
  type StopReason,
} from './rendezvous.ts';
import { RankTraining, type TrainerParts } from './rank-training.ts';
import { RoundEvaluation } from './round-evaluation.ts';
import { RoundPlan, scheduledSteps } from './round-plan.ts';
import type { Position, ReportedPoint } from '../member/report.ts';
import type { ResumedTraining } from './saved-state.ts';
import type { SavedSchedule } from './snapshot.ts';
import { StateSaver } from './state-saver.ts';
import { TrainingStep } from './training-step.ts';
import { UserRequests } from './user-requests.ts';

const start = { epoch: 0, batch: 0, step: 0, round: 0, rendezvous: 0, standingBy: false, stoppedAlone: false };

/**
 * Trains one rank. Ranks meet at a rendezvous every `evaluateEveryEpochs` epochs: they compare losses, evaluate
 * together and decide together whether to continue. In between they run independently, or in lockstep where they
 * exchange. A rank that ends before the others stands by and contributes its last predictions.
 */
export class Trainer {
  readonly training: RankTraining;
  readonly history: History;
  readonly meter: LossMeter;
  readonly settings: LiveSettings;
  private readonly parts: TrainerParts;
  private readonly requests: UserRequests;
  private readonly states: StateSaver;
  private readonly plan: RoundPlan;
  private readonly oneStep: TrainingStep;
  /** Null where ranks run independently. */
  private readonly lockstep: Lockstep | null;
  private readonly savedStrategy: StrategyState | null;
  private readonly isResumed: boolean;
  private readonly savedSchedule: SavedSchedule | undefined;
  private readonly throttle: Throttle;
  private readonly earlierModel: string | undefined;
  private readonly earlierPoints: readonly ReportedPoint[];
  private readonly evaluation: RoundEvaluation;

  /** @param resumed the state of an earlier attempt; the member's weights and optimizer have theirs already */
  constructor(parts: TrainerParts, resumed?: ResumedTraining) {
    const { config, callbacks, report, group } = parts;
    this.parts = parts;
    this.training = new RankTraining(parts, resumed?.progress ?? { ...start });
    this.history = resumed?.history ?? new History();
    this.evaluation = new RoundEvaluation(parts, this.training, this.history);
    this.settings = new LiveSettings(resumed?.settings ?? settingsOf(config), callbacks, report);
    this.meter = new LossMeter(report, config.logEverySteps, group.rank, resumed?.losses);
    this.requests = new UserRequests(this.training, this.settings, this.meter);
    this.throttle = parts.throttle ?? new Throttle();
    const isLockstep = parts.strategy.isLockstep || parts.batches.isLockstep;
    this.lockstep = isLockstep ? new Lockstep(group, parts.controls) : null;
    this.plan = new RoundPlan(parts, this.training.progress, this.meter, this.lockstep);
    const scheduled = scheduledSteps(config, parts.sampler, this.training.progress);
    this.oneStep = new TrainingStep(this.training, this.settings, this.meter, scheduled);
    this.states = new StateSaver(this, isLockstep);
    this.savedStrategy = resumed?.strategy ?? null;
    this.isResumed = resumed !== undefined;
    this.savedSchedule = resumed?.schedule;
    this.earlierModel = resumed?.model;
    this.earlierPoints = resumed?.points ?? [];
  }

  /** The most steps that this rank does. */
  get totalSteps(): number {
    return this.plan.totalSteps;
  }

  get schedule(): SavedSchedule {
    return this.oneStep.schedule;
  }

  /** Trains until the last step, an early stop or a stop request, whichever comes first. */
  async fit(): Promise<StopReason> {
    try {
      return await this.trainToEnd();
    } catch (error) {
      if (this.parts.controls.isHubGone) await this.states.saveAlone();
      throw error;
    }
  }

  private async trainToEnd(): Promise<StopReason> {
    await this.training.keepArchitecture(this.earlierModel);
    if (this.lockstep !== null) await this.parts.group.mapSlots();
    const resumedAt = this.isResumed ? this.training.position : undefined;
    await this.parts.strategy.setup(this.parts.member, this.parts.group, this.savedStrategy, resumedAt);
    this.oneStep.reportEvents();
    const { progress } = this.training;
    if (this.savedSchedule !== undefined) this.oneStep.announceJump(this.savedSchedule);
    if (this.isResumed) {
      progress.rendezvous = await agreeOnRendezvous(this.parts.group, progress);
      for (const damage of await this.parts.files.putReplacedBack()) this.training.announce('file-damaged', damage);
      await this.parts.strategy.repeatBegun?.(this.parts.member, () => this.oneStep.lastBatch());
      for (const { name, value, ...position } of this.earlierPoints) this.parts.report.point(name, value, position);
    }
    for (;;) {
      await this.trainRound();
      const agreed = await this.agreeOnRound();
      if (!agreed.isComplete) await this.states.saveWithinRound();
      await this.evaluateRound(agreed);
      const end = await this.agreeOnEnd(agreed);
      if (end !== null) {
        // A rank in lockstep that ended while another lacks the last answer could no longer resume together with it.
        if (this.lockstep !== null) await this.parts.group.barrier();
        await this.training.assemble();
        await this.training.each((callback) => callback.onFitEnd?.(this.training));
        return end;
      }
    }
  }

  /** Trains up to the next rendezvous: all epochs before it, unless something ends them early. */
  private async trainRound(): Promise<void> {
    const { sampler, report, controls } = this.parts;
    const { progress } = this.training;
    report.state(progress.standingBy ? 'standing-by' : 'training', this.training.position);
    this.meter.beginTraining();
    this.lockstep?.begin(false);
    await this.lockstep?.end();
    // Requests since the last step, or to a rank that stands by and does no step.
    await this.requests.handle();
    while (progress.epoch < this.plan.lastEpoch && !this.plan.mustHalt) {
      const done = progress.batch;
      let index = 0;
      for (const indices of sampler.batches(progress.epoch)) {
        if (index++ < done) continue;
        await this.trainStep(indices);
        if (this.plan.mustHalt) break;
      }
      if (progress.batch === sampler.batchesPerEpoch) await this.endEpoch();
      if (controls.stopAtEpochEndRequested) break;
    }
    await this.endRoundTraining();
  }

  private async endRoundTraining(): Promise<void> {
    const { strategy } = this.parts;
    // In lockstep, a rank that ends its round because the hub is gone is not where the others are.
    if (this.lockstep !== null) this.requireHub();
    const { isRoundComplete } = this.plan;
    const end = (): void => {
      this.meter.endTraining();
      this.states.beginRendezvous();
    };
    if (!isRoundComplete) end();
    const settled = await strategy.settle?.();
    if (settled) this.meter.add(settled, this.training.position);
    if (isRoundComplete) end();
    this.requireHub();
  }

  private requireHub(): void {
    if (this.parts.controls.isHubGone) throw new CollectiveError('The hub is gone, so that the ranks cannot meet.');
  }

  private async trainStep(indices: Int32Array): Promise<void> {
    this.states.beginStep();
    this.lockstep?.begin(this.plan.hasFailed);
    await this.oneStep.run(indices);
    await this.throttle.afterStep(() => this.meter.reportProgress(this.training.position));
    await this.lockstep?.end();
    await this.requests.waitWhilePaused();
    await this.requests.handle();
  }

  private async endEpoch(): Promise<void> {
    await this.training.each((callback) => callback.onEpochEnd?.(this.training));
    this.training.progress.epoch += 1;
    this.training.progress.batch = 0;
  }

  /**
   * First half of the rendezvous: merges the round's outcomes.
   *
   * @throws NonFiniteLossError on every rank when the loss of one was not finite
   * @throws ReplicasDifferError on every rank when ranks that train one model hold different weights
   */
  private async agreeOnRound(): Promise<AgreedRound> {
    const { config, group, controls, member, strategy } = this.parts;
    const { position } = this.training;
    const { meanLoss, nonFinite } = this.meter;
    const agreed = await agreeOnRound(group, {
      position,
      meanLoss,
      nonFinite,
      stopRequested: controls.stopReceived,
      isComplete: this.plan.isRoundComplete,
      isAtPlannedEnd: this.plan.isAtPlannedEnd,
    });
    if (agreed.nonFinite !== null && config.onNonFinite === 'stop') this.stopOnNonFinite(agreed.nonFinite, nonFinite);
    await strategy.verify?.(member, position);
    return agreed;
  }

  /** All ranks stop, or only those whose loss was not finite, if the others may continue without them. */
  private stopOnNonFinite(agreed: Position & { rank: number }, own: Position | null): void {
    const { config, group } = this.parts;
    if (!mayShrink(config)) throw new NonFiniteLossError(agreed);
    if (own !== null) throw new NonFiniteLossError({ ...own, rank: group.rank }, 'It');
  }

  /** Reports the round's losses, and evaluates. */
  private async evaluateRound({ meanLoss, position, isComplete, isPlanned }: AgreedRound): Promise<void> {
    const { files } = this.parts;
    const { progress } = this.training;
    this.meter.reportRound(this.training.position);
    this.evaluation.begin(meanLoss, position);
    if (isPlanned) {
      progress.rendezvous = this.plan.plannedEnd;
      this.meter.nextRound();
    }
    if (isComplete) await this.evaluation.evaluate(position);
    else await files.keepReplaced(() => this.evaluation.evaluate(position));
  }

  /** Second half of the rendezvous: decides for all ranks whether to end, and whether to save the state. */
  private async agreeOnEnd({ stopRequested, isComplete }: AgreedRound): Promise<StopReason | null> {
    const { group } = this.parts;
    const { progress, stopVoted } = this.training;
    const { end, stateDue } = await agreeOnEnd(group, stopRequested, {
      stopVoted,
      done: this.plan.isDone,
      standingBy: progress.standingBy,
      stoppedAlone: progress.stoppedAlone,
      stateDue: this.states.isDue,
    });
    this.evaluation.report();
    if (!isComplete) return end;
    this.states.endRendezvous();
    progress.round += 1;
    if (end !== null || stateDue) await this.states.saveAfterEvaluation();
    return end;
  }

  /** Before its last save, a missing member comes to the round of the others, so that they can resume together. */
  beforeSave(): void {
    const { completion, group } = this.parts;
    const { progress } = this.training;
    if (!completion || progress.step < this.plan.lastStep) return;
    joinOthers(completion, { rank: group.rank, progress, history: this.history });
  }
}

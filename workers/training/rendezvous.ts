import { countEpoch } from '../../core/text/numbers.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import { AgreedError, type Position } from '../member/report.ts';
import type { RunSummary } from '../../core/protocol/run/record.ts';
import type { Controls } from './controls.ts';

/**
 * Decisions of all ranks. Each is one all-gather of a few numbers, from which every rank draws the same conclusion: no
 * rank waits for one that has left.
 */

export type StopReason = RunSummary['stopReason'];

export interface RoundReport {
  /** The position of this rank. */
  position: Position;
  /** NaN for a rank that made no update. */
  meanLoss: number;
  nonFinite: Position | null;
  stopRequested: boolean;
  /** Has done all its steps of the round. */
  isComplete: boolean;
  /** Has done all epochs before the planned rendezvous, or stands by. */
  isAtPlannedEnd: boolean;
}

export interface AgreedRound {
  /** The position of the rank with the most steps: ranks that stand by, or were stopped, have fewer. */
  position: Position;
  /** Mean over the ranks that trained; NaN if none did. */
  meanLoss: number;
  /** The lowest rank whose loss was not finite, and where. */
  nonFinite: (Position & { rank: number }) | null;
  stopRequested: boolean;
  /**
   * Whether all ranks have done all their steps of the round. Otherwise a stop ended it, and a resume continues within
   * it.
   */
  isComplete: boolean;
  /**
   * Whether the rendezvous is one of those every `evaluateEveryEpochs` epochs. A last one may come before the next of
   * them.
   */
  isPlanned: boolean;
}

/** Merges the round's outcomes of all ranks. */
export async function agreeOnRound(group: ProcessGroup, own: RoundReport): Promise<AgreedRound> {
  const { position, meanLoss, stopRequested } = own;
  const { epoch, step } = own.nonFinite ?? { epoch: -1, step: -1 };
  const all = await group.allGather(
    Float64Array.of(
      meanLoss,
      epoch,
      step,
      Number(stopRequested),
      position.epoch,
      position.step,
      Number(own.isComplete),
      Number(own.isAtPlannedEnd),
    ),
  );
  const furthest = all.reduce((best, rank) => (rank[5] > best[5] ? rank : best));
  const losses = all.map(([meanLoss]) => meanLoss).filter((loss) => !Number.isNaN(loss));
  const failed = all.findIndex(([, , failedStep]) => failedStep >= 0);
  return {
    position: { epoch: furthest[4], step: furthest[5] },
    meanLoss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length,
    nonFinite: failed < 0 ? null : { rank: group.ranks[failed], epoch: all[failed][1], step: all[failed][2] },
    stopRequested: all.some(([, , , stop]) => stop === 1),
    isComplete: all.every((rank) => rank[6] === 1),
    isPlanned: all.every((rank) => rank[7] === 1),
  };
}

/**
 * Epochs before the last planned rendezvous, from which all ranks count when a run resumes. A hub may have died when
 * one rank had completed a rendezvous and another had not: the least of those that still train counts.
 */
export async function agreeOnRendezvous(
  group: ProcessGroup,
  own: { rendezvous: number; standingBy: boolean },
): Promise<number> {
  const all = await group.allGather(Float64Array.of(own.rendezvous, Number(own.standingBy)));
  const training = all.filter(([, standingBy]) => standingBy === 0);
  return Math.min(...(training.length > 0 ? training : all).map(([rendezvous]) => rendezvous));
}

export interface EndVote {
  /** Votes to end all ranks. */
  stopVoted: boolean;
  /** Has done its last step. */
  done: boolean;
  /** Ended before its last step, and waits for the others. */
  standingBy: boolean;
  /** Stands by because the user stopped it alone. */
  stoppedAlone: boolean;
  /** Whether to save the state; only the first rank's vote counts. */
  stateDue: boolean;
}

/** Whether all ranks end here, and why, and whether they save their state. */
export async function agreeOnEnd(
  group: ProcessGroup,
  stopRequested: boolean,
  own: EndVote,
): Promise<{ end: StopReason | null; stateDue: boolean }> {
  const flags = [own.stopVoted, own.done, own.standingBy, own.stoppedAlone, own.stateDue].map(Number);
  const all = await group.allGather(Uint8Array.from(flags));
  const stopVoted = all.some(([stop]) => stop === 1);
  const allEnded = all.every(([, done, standingBy]) => done === 1 || standingBy === 1);
  const allStoppedAlone = all.every(([, , , stoppedAlone]) => stoppedAlone === 1);
  const anyStoppedEarly = all.some(([, , standingBy, stoppedAlone]) => standingBy === 1 && stoppedAlone === 0);
  const stateDue = all[0][4] === 1;
  if (stopRequested || allStoppedAlone) return { end: 'requested', stateDue };
  if (stopVoted || (allEnded && anyStoppedEarly)) return { end: 'early-stopping', stateDue };
  return { end: allEnded ? 'completed' : null, stateDue };
}

/** A non-finite loss, which ends training on all ranks. */
export class NonFiniteLossError extends AgreedError {
  override name = 'NonFiniteLossError';

  constructor(at: Position & { rank: number }, who: 'All ranks' | 'It' = 'All ranks') {
    super(
      `The training loss of rank ${at.rank} was not finite at epoch ${countEpoch(at.epoch)}, step ${at.step}. ` +
        `${who} stopped before that update. Lower the learning rate, or check the data; --on-non-finite skip skips ` +
        'such updates instead.',
      at,
    );
  }
}

/**
 * Makes ranks that exchange at every step act on a control at the same step. Otherwise one rank would stop while
 * another waits for its gradients. Signals travel with the collectives of a step. Those of the collectives before a
 * step take effect after it: up to a step late, but at the same step on all ranks, even while a collective is pending.
 */
export class Lockstep {
  /** Whether some rank's training must end. */
  mustHalt = false;
  private readonly group: ProcessGroup;
  private readonly controls: Controls;

  constructor(group: ProcessGroup, controls: Controls) {
    this.group = group;
    this.controls = controls;
    controls.holdBack();
  }

  /** Call it before a step. @param halt whether this rank's training must end */
  begin(halt: boolean): void {
    this.group.signals = { controls: this.controls.received, halt };
    this.group.mark();
  }

  /** Call it after a step: admits the controls that all ranks admit now. */
  async end(): Promise<void> {
    const { controls, halt } = await this.group.agreed();
    this.mustHalt = halt;
    await this.controls.admit(controls);
  }
}

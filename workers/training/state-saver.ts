import { CollectiveError } from '../../core/protocol/wire/collectives.ts';
import { releaseTensors } from '../tensorflow/tensor-values.ts';
import {
  holdPosition,
  positionOf,
  type SavedRows,
  saveTrainingState,
  saveTrainingStateAlone,
  type TrainingPosition,
  type TrainingToSave,
} from './saved-state.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';

/**
 * Saves a rank's state at rendezvous, within a round before the last evaluation of a stop, and when the hub has died.
 */
export class StateSaver {
  readonly #rank: TrainingToSave;
  /** Null where ranks run independently. */
  readonly #held: HeldPositions | null;
  /** Number of the last save before this attempt. */
  readonly #firstRound: number;
  #lastSaveMs = performance.now();
  /** From the end of a round's training until its outcome is settled or saved; else null. */
  #roundEnd: TrainingPosition | null = null;

  constructor(rank: TrainingToSave, isLockstep: boolean) {
    this.#rank = rank;
    this.#held = isLockstep ? new HeldPositions(rank, rank.group) : null;
    this.#firstRound = rank.training.progress.round;
  }

  /** Whether the last save is older than `stateEverySeconds`. */
  get isDue(): boolean {
    const { stateEverySeconds } = this.#rank.config.checkpoints;
    return performance.now() - this.#lastSaveMs >= stateEverySeconds * 1000;
  }

  /** Call it before each step. */
  beginStep(): void {
    this.#held?.holdStep();
  }

  /**
   * Call it when a round's training has ended, on every rank: within a round, before the strategy completes a pending
   * update, because the resumed run makes it together with the next step.
   */
  beginRendezvous(): void {
    this.#held?.hold();
    this.#endRound(this.#held === null ? positionOf(this.#rank) : holdPosition(this.#rank));
  }

  /** Call it when all ranks have evaluated. */
  endRendezvous(): void {
    this.#endRound(null);
  }

  /**
   * Saves, once the hub has died, from where the ranks continue together. Ranks that train independently: the state
   * before the present rendezvous, where they meet again. Ranks in lockstep: each position that they may have in
   * common, the oldest first, because that is the one that all have.
   */
  async saveAlone(): Promise<void> {
    if (this.#held === null) {
      if (this.#roundEnd === null) return;
      const { snapshot } = this.#roundEnd;
      return saveTrainingStateAlone(this.#rank, this.#roundEnd, snapshot.progress.round + 1);
    }
    // Larger than the number of any state that this attempt has saved at a rendezvous, which is a position, too.
    for (const at of this.#held.all) await saveTrainingStateAlone(this.#rank, at, this.#firstRound + 1 + at.number);
  }

  /**
   * Saves the state after an evaluation. All ranks call it at the same rendezvous.
   * @throws CollectiveError if the hub has died; ranks that train independently have then saved their state
   */
  async saveAfterEvaluation(): Promise<void> {
    const { controls, group, report, training } = this.#rank;
    let recordedRows: number | undefined;
    try {
      // Otherwise a hub that dies now would leave a gap of metrics before the step at which a run resumes.
      if (training.isFirst) recordedRows = (await report.recorded()) ?? undefined;
      await group.barrier();
    } catch (error) {
      if (!controls.isHubGone) throw error;
    }
    this.#rank.beforeSave();
    const position = positionOf(this.#rank);
    if (!controls.isHubGone) return await this.#save(position, { metricRows: null, recordedRows });
    // The hub may not have written the newest points, so they belong to the state. Ranks in lockstep save the positions
    // that they hold.
    if (this.#held === null) await saveTrainingStateAlone(this.#rank, position, position.snapshot.progress.round);
    throw new CollectiveError('The hub is gone, so that the ranks cannot meet again.');
  }

  /**
   * Saves the state within a round that a stop has ended: of a run that never stopped, nothing is evaluated here. The
   * resumed run drops the rows and replaces the files of the stop's last evaluation, which follows. All ranks call it
   * at the same rendezvous.
   */
  async saveWithinRound(): Promise<void> {
    const { group, training } = this.#rank;
    training.progress.round += 1;
    // The first rank learns how many rows there are once the metrics of all ranks are on disk.
    if (!training.isFirst) await this.#rowsOnDisk();
    await group.barrier();
    const rows = training.isFirst ? await this.#rowsOnDisk() : null;
    this.#rank.beforeSave();
    const at = this.#roundEnd ?? positionOf(this.#rank);
    const { round } = training.progress;
    const snapshot = { ...at.snapshot, progress: { ...at.snapshot.progress, round } };
    await this.#save({ ...at, snapshot }, { metricRows: rows });
    if (this.#held === null) this.endRendezvous();
    // No rank evaluates, and so reports, before all have saved.
    await group.barrier();
    // From here on all ranks resume from this state.
    this.endRendezvous();
    this.#held?.release();
  }

  /** @throws if the hub has died, which nothing else tells here: the rows of the state would be unknown */
  async #rowsOnDisk(): Promise<number | null> {
    const { report, controls } = this.#rank;
    const rows = await report.recorded();
    if (controls.isHubGone) throw new CollectiveError('The hub is gone, so that nobody records metrics.');
    return rows;
  }

  async #save(at: TrainingPosition, rows: SavedRows): Promise<void> {
    await saveTrainingState(this.#rank, at, rows);
    this.#lastSaveMs = performance.now();
  }

  #endRound(position: TrainingPosition | null): void {
    if (this.#held !== null && this.#roundEnd !== null) releaseTensors(this.#roundEnd.tensors);
    this.#roundEnd = position;
  }
}

/** More bytes could not be written in the time that a rank has once its hub has died. */
const mostBytes = 256 * 2 ** 20;

/** A position before a step or a rendezvous. */
interface HeldPosition extends TrainingPosition {
  /** Counts the positions of this attempt from 1: the same position on all ranks. */
  number: number;
  /** Number of the group's collectives that came before it. */
  calls: number;
}

/**
 * The last positions of a rank in lockstep, for the death of its hub. A rank may get the last answer of a step that
 * another does not get: then the other can save only the position before that step, and this rank must still have it.
 *
 * An answer shows that all ranks have made the call, so all of them hold the newest position before the call. Older
 * ones are released. All ranks thus hold the newest position that precedes an answered call on any of them.
 */
class HeldPositions {
  readonly #rank: TrainingToSave;
  readonly #group: ProcessGroup;
  #held: HeldPosition[] = [];
  #count = 0;
  /** Null until the first position. */
  #isTooLarge: boolean | null = null;

  constructor(rank: TrainingToSave, group: ProcessGroup) {
    this.#rank = rank;
    this.#group = group;
    group.onAnswer = (sequence) => this.#releaseBefore(sequence);
  }

  /** The oldest first. */
  get all(): readonly HeldPosition[] {
    return this.#held;
  }

  /**
   * Call it before each step, on every rank. Between two exchanges ranks take their steps independently, so that only
   * the first of these positions is common to all.
   */
  holdStep(): void {
    if (this.#held.at(-1)?.calls !== this.#group.statistics.count) this.hold();
  }

  /** Call it at the same position on every rank. */
  hold(): void {
    if (this.#cannotBeHeld()) return;
    this.#count += 1;
    const { count: calls } = this.#group.statistics;
    this.#held.push({ ...holdPosition(this.#rank), number: this.#count, calls });
  }

  release(): void {
    for (const { tensors } of this.#held.splice(0)) releaseTensors(tensors);
  }

  #releaseBefore(sequence: number): void {
    const newest = this.#held.findLastIndex(({ calls }) => calls < sequence);
    if (newest <= 0) return;
    for (const { tensors } of this.#held.splice(0, newest)) releaseTensors(tensors);
  }

  #cannotBeHeld(): boolean {
    // A step overwrites what lies in files.
    this.#isTooLarge ??= positionOf(this.#rank).files !== undefined || bytesOf(this.#rank) > mostBytes;
    return this.#isTooLarge;
  }
}

function bytesOf(rank: TrainingToSave): number {
  return [...positionOf(rank).tensors.values()].reduce((sum, { size }) => sum + 4 * size, 0);
}

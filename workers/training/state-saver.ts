import { CollectiveError } from '../../core/protocol/wire/collectives.ts';
import {
  saveTrainingState,
  saveTrainingStateAlone,
  type Snapshot,
  snapshotOf,
  type TrainingToSave,
} from './saved-state.ts';

/** Saves a rank's state at rendezvous, and within a round before the last evaluation of a stop. */
export class StateSaver {
  readonly #rank: TrainingToSave;
  #lastSaveMs = performance.now();
  /** From the end of a round's training until its outcome is settled or saved; else null. */
  #roundEnd: Snapshot | null = null;

  constructor(rank: TrainingToSave) {
    this.#rank = rank;
  }

  /** Whether the last save is older than `stateEverySeconds`. */
  get isDue(): boolean {
    const { stateEverySeconds } = this.#rank.training.parts.config.checkpoints;
    return performance.now() - this.#lastSaveMs >= stateEverySeconds * 1000;
  }

  /** Call it when a round's training has ended, on every rank. */
  beginRendezvous(): void {
    this.#roundEnd = snapshotOf(this.#rank);
  }

  /** Call it when all ranks have evaluated. */
  endRendezvous(): void {
    this.#roundEnd = null;
  }

  /**
   * Saves the state before the present rendezvous, once the hub has died: the ranks of a resumed run meet there again. For ranks that train
   * independently: each has its own position within the common round.
   */
  async saveAlone(): Promise<void> {
    if (this.#roundEnd === null) return;
    const { progress } = this.#roundEnd;
    await saveTrainingStateAlone(this.#rank, {
      ...this.#roundEnd,
      progress: { ...progress, round: progress.round + 1 },
    });
  }

  /**
   * Saves the state after an evaluation. All ranks call it at the same rendezvous.
   * @throws CollectiveError if the hub has died; the state is saved
   */
  async saveAfterEvaluation(): Promise<void> {
    const { training } = this.#rank;
    const { report, group, controls } = training.parts;
    try {
      // Otherwise a hub that dies now would leave a gap of metrics before the step at which a run resumes.
      if (training.isFirst) await report.recorded();
      await group.barrier();
    } catch (error) {
      if (!controls.isHubGone) throw error;
    }
    if (!controls.isHubGone) return await this.#save(null);
    // The hub may not have written the newest points, so they belong to the state.
    this.#rank.beforeSave();
    await saveTrainingStateAlone(this.#rank, snapshotOf(this.#rank));
    throw new CollectiveError('The hub is gone, so that the ranks cannot meet again.');
  }

  /**
   * Saves the state within a round that a stop has ended: of a run that never stopped, nothing is evaluated here. The resumed run drops
   * the rows and replaces the files of the stop's last evaluation, which follows. All ranks call it at the same rendezvous.
   */
  async saveWithinRound(): Promise<void> {
    const { training } = this.#rank;
    const { report, group, controls } = training.parts;
    training.progress.round += 1;
    // The first rank learns how many rows there are once the metrics of all ranks are on disk.
    if (!training.isFirst) await report.recorded();
    await group.barrier();
    const rows = training.isFirst ? await report.recorded() : null;
    if (controls.isHubGone) throw new CollectiveError('The hub is gone, so that the ranks cannot save together.');
    await this.#save(rows);
    this.endRendezvous();
    // No rank evaluates, and so reports, before all have saved.
    await group.barrier();
  }

  async #save(metricRows: number | null): Promise<void> {
    this.#rank.beforeSave();
    await saveTrainingState(this.#rank, metricRows);
    this.#lastSaveMs = performance.now();
  }
}

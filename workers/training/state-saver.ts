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

  /** Saves the state after an evaluation. All ranks call it at the same rendezvous. */
  async saveAfterEvaluation(): Promise<void> {
    const { training } = this.#rank;
    // Otherwise a hub that dies now would leave a gap of metrics before the step at which a run resumes. Ranks may be one save
    // apart, so it is enough that the first rank waits.
    if (training.isFirst) await training.parts.report.recorded();
    await this.#save(null);
  }

  /**
   * Saves the state within a round that a stop has ended: of a run that never stopped, nothing is evaluated here. The resumed run drops
   * the rows and replaces the files of the stop's last evaluation, which follows. All ranks call it at the same rendezvous.
   */
  async saveWithinRound(): Promise<void> {
    const { training } = this.#rank;
    const { report, group } = training.parts;
    training.progress.round += 1;
    // The first rank learns how many rows there are once the metrics of all ranks are on disk.
    if (!training.isFirst) await report.recorded();
    await group.barrier();
    await this.#save(training.isFirst ? await report.recorded() : null);
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

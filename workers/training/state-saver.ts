import { saveTrainingState, type TrainingToSave } from './saved-state.ts';

/** Saves a rank's state at rendezvous, and within a round before the last evaluation of a stop. */
export class StateSaver {
  readonly #rank: TrainingToSave;
  #lastSaveMs = performance.now();

  constructor(rank: TrainingToSave) {
    this.#rank = rank;
  }

  /** Whether the last save is older than `stateEverySeconds`. */
  get isDue(): boolean {
    const { stateEverySeconds } = this.#rank.training.parts.config.checkpoints;
    return performance.now() - this.#lastSaveMs >= stateEverySeconds * 1000;
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
    // No rank evaluates, and so reports, before all have saved.
    await group.barrier();
  }

  async #save(metricRows: number | null): Promise<void> {
    this.#rank.beforeSave();
    await saveTrainingState(this.#rank, metricRows);
    this.#lastSaveMs = performance.now();
  }
}

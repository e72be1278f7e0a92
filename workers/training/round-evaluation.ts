import type { Evaluation } from '../callbacks/callback.ts';
import type { Position } from '../member/report.ts';
import type { History } from './history.ts';
import type { RankTraining, TrainerParts } from './rank-training.ts';

/** Evaluates a rank at its rendezvous, and reports what all ranks agree on there. */
export class RoundEvaluation {
  readonly #parts: TrainerParts;
  readonly #training: RankTraining;
  readonly #history: History;
  /** Points of this rendezvous that are the same on all ranks. */
  #agreed: { name: string; value: number; position: Position }[] = [];

  constructor(parts: TrainerParts, training: RankTraining, history: History) {
    this.#parts = parts;
    this.#training = training;
    this.#history = history;
  }

  /** Begins with the mean of the ranks' losses over the round; NaN if it is unknown. */
  begin(meanLoss: number, position: Position): void {
    // The mean over the members that were there stays that of their rendezvous.
    const isKnown = !Number.isNaN(meanLoss) && !this.#parts.completion;
    this.#agreed = isKnown ? [{ name: 'train/loss', value: meanLoss, position }] : [];
    this.report();
  }

  /**
   * Computes this rank's predictions, then the callbacks' metrics of all ranks' predictions, reported at `position`.
   */
  async evaluate(position: Position): Promise<void> {
    const { data, report } = this.#parts;
    const training = this.#training;
    const dataset = data.validation;
    if (dataset === undefined) return;
    report.state('evaluating', training.position);
    const { epoch, step } = position;
    const metrics = new Map<string, number>();
    await training.withModel(async () => {
      const predictions = await training.predict(dataset);
      const evaluation: Evaluation = { dataset, predictions, epoch, metrics };
      await training.each((callback) => callback.onEvaluation?.(training, evaluation));
    });
    this.#history.record(metrics, epoch, step);
    for (const [name, value] of metrics) this.#agreed.push({ name, value, position });
    this.report();
  }

  /**
   * Reports what all ranks agree on, on the first rank. Call it again after a collective: the first rank may have been
   * lost.
   */
  report(): void {
    if (!this.#training.isFirst) return;
    for (const { name, value, position } of this.#agreed.splice(0)) this.#parts.report.point(name, value, position);
  }
}

import { improves, type MetricMode, resolveMode } from '../../../core/metrics/metric-mode.ts';
import type { EvaluatedSet, RunRecord, RunSummary } from '../../../core/protocol/run/record.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import type { RunFacts } from '../../../core/protocol/pages/run-updates.ts';
import { EarlierMetrics } from './earlier-metrics.ts';
import type { KnownMetrics } from './lost-metrics.ts';

/**
 * What the ranks have reported so far, for the summary of a run: the last value of each metric, the best one, the
 * evaluated sets.
 */
export class ReportedValues {
  readonly #lastValues = new Map<string, number>();
  #best: RunSummary['best'] = null;
  #facts: RunFacts | null = null;
  /** What the best value is the best of; null until the ranks have said it. */
  #monitored: { metric: string; mode: MetricMode } | null = null;
  /** The metrics of earlier attempts. */
  #earlier: EarlierMetrics | null = null;
  #evaluatedSets: EvaluatedSet[] = [];
  #progress = { epochs: 0, steps: 0 };

  get best(): RunSummary['best'] {
    return this.#best;
  }

  /** What the ranks have said about themselves in this attempt. */
  get facts(): RunFacts | null {
    return this.#facts;
  }

  /** Forgets what the ranks of the last attempt said about themselves. */
  forgetFacts(): void {
    this.#facts = null;
    this.#monitored = null;
  }

  describe(facts: RunFacts, mode: RunRecord['config']['checkpoints']['mode']): void {
    this.#facts = facts;
    const metric = facts.ensembleMonitor;
    this.#monitored = { metric, mode: resolveMode(metric, mode, 'checkpoints.mode') };
    this.#adoptEarlierBest();
  }

  /**
   * Reads the metrics of earlier attempts, whose values count until they are reported again.
   * @param known takes the rows, too
   * @returns the errors of damaged rows, which are left out
   */
  async readEarlier(folder: string, origin: RunRecord['origin'], known: KnownMetrics | null): Promise<Error[]> {
    const damages: Error[] = [];
    // Weights alone bring no best checkpoint with them, so the fork's best is its own.
    const bestAfterStep = origin?.kind === 'checkpoint' ? origin.step : -Infinity;
    this.#earlier = await EarlierMetrics.read(folder, (damage) => damages.push(damage), { bestAfterStep, known });
    this.#lastValues.clear();
    for (const [name, value] of this.#earlier.lastValues) this.#lastValues.set(name, value);
    this.#adoptEarlierBest();
    return damages;
  }

  /** Takes points of a rank. @returns whether the best value of the ensemble has changed */
  take({ names, nameIndex, value, epoch, step }: PointBatch): boolean {
    names.forEach((name, index) => this.#lastValues.set(name, value[nameIndex.lastIndexOf(index)]));
    if (this.#monitored === null) return false;
    const { metric, mode } = this.#monitored;
    const wanted = names.indexOf(metric);
    const before = this.#best;
    nameIndex.forEach((name, i) => {
      if (name !== wanted || !improves(value[i], this.#best?.value ?? null, mode)) return;
      this.#best = { metric, value: value[i], epoch: epoch[i], step: step[i] };
    });
    return this.#best !== before;
  }

  evaluated(set: EvaluatedSet): void {
    this.#evaluatedSets = [...this.#evaluatedSets.filter((other) => other.set !== set.set), set];
  }

  /** @param epoch zero-based */
  reached(epoch: number, step: number): void {
    const { epochs, steps } = this.#progress;
    this.#progress = { epochs: Math.max(epochs, epoch + 1), steps: Math.max(steps, step) };
  }

  summary(attempt: number, stopReason: RunSummary['stopReason']): RunSummary {
    const metrics = Object.fromEntries([...this.#lastValues].sort(([a], [b]) => (a < b ? -1 : 1)));
    return {
      attempt,
      ...this.#progress,
      stopReason,
      metrics,
      best: this.#best,
      evaluatedSets: this.#evaluatedSets,
    };
  }

  #adoptEarlierBest(): void {
    if (this.#earlier === null || this.#monitored === null) return;
    this.#best = this.#earlier.best(this.#monitored.metric, this.#monitored.mode);
  }
}

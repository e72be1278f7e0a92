import type { RunSettings } from '../../core/protocol/run/settings.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Dataset } from '../data/dataset.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { Predictions } from '../member/predict.ts';

/** What a callback sees of a rank's training, and may do to it. Where all ranks train one model, each sees an ensemble of one. */
export interface Training {
  readonly rank: number;
  /** M: all members of the ensemble, also those of other waves. */
  readonly members: number;
  readonly group: ProcessGroup;
  readonly model: LayersModel;
  /** Zero-based epoch that the weights were last trained in. */
  readonly epoch: number;
  /** Updates so far. */
  readonly step: number;
  /** This rank has ended before the others and brings only its last predictions. */
  readonly isStandingBy: boolean;
  /** Keeps the weights as they are now as a checkpoint of this rank. */
  saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void>;
  /** Keeps predictions in the run folder, `predictions/<split>/rank-<r>/<name>.safetensors`. */
  savePredictions(name: string, predictions: Predictions): Promise<void>;
  /** Votes for an end of all ranks' training after this evaluation. */
  requestStop(): void;
  /** Ends this rank's training; it goes on to take part in evaluations until all ranks have ended. */
  standBy(): void;
  /** Tells the user and the run's events. */
  announce(kind: string, message: string): void;
  /** Tells a metric, by its full name, of where this rank stands now. */
  log(metric: string, value: number): void;
}

/** A step that a rank has done. */
export interface StepEnd {
  /** Mean over the batch; null where the strategy learns it only later. */
  loss: number | null;
  learningRate: number;
}

/** An evaluation under way: callbacks add to its metrics in turn, and read what those before them added. */
export interface Evaluation {
  readonly dataset: Dataset;
  readonly predictions: Predictions;
  /** Of the rank that has come furthest; this one's own may be behind. */
  readonly epoch: number;
  /** By full name, e.g. `val/ens_nll`. */
  readonly metrics: Map<string, number>;
}

/**
 * Something that observes a rank's training. Callbacks run one after the other, in the order they were given; all ranks have
 * the same ones, so a callback may call collectives as long as it does on every rank.
 */
export interface Callback {
  /** Unique among a trainer's callbacks; its saved state goes by this name. */
  readonly name: string;
  /** Called before training, and whenever the user changes a setting of the run while it trains. */
  onSettings?(settings: RunSettings): void;
  /** Between two steps, which wait for it: so it is no promise. */
  onStepEnd?(training: Training, step: StepEnd): void;
  onEpochEnd?(training: Training): Promise<void>;
  onEvaluation?(training: Training, evaluation: Evaluation): Promise<void>;
  onFitEnd?(training: Training): Promise<void>;
  /** JSON-able state that a resumed run needs. */
  state?(): unknown;
  restore?(state: unknown): void;
}

/** `val/member_{rank}_nll` for rank 3 is `val/member_3_nll`. */
export function resolveMonitor(monitor: string, rank: number): string {
  return monitor.replaceAll('{rank}', String(rank));
}

/** Name of what is kept of an epoch (zero-based): it sorts as the epochs do. */
export function epochName(epoch: number): string {
  return `epoch-${String(epoch).padStart(5, '0')}`;
}

/** @throws when no such metric was computed, naming those that were */
export function monitored(metrics: ReadonlyMap<string, number>, monitor: string, rank: number): number {
  const name = resolveMonitor(monitor, rank);
  const value = metrics.get(name);
  if (value !== undefined) return value;
  const known = [...metrics.keys()].sort().join(', ');
  throw new Error(`There is no metric "${name}" to monitor. This evaluation computed ${known || 'none'}.`);
}

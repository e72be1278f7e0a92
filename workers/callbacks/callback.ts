import type { MemberCount } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import type { RunSettings } from '../../core/protocol/run/settings.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Dataset } from '../data/dataset.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { Predictions } from '../member/predictions.ts';

/**
 * A rank's training, as its callbacks see and control it. Where all ranks train one model, each sees an ensemble of
 * one.
 */
export interface Training {
  /** This rank. */
  readonly rank: number;
  /** M, the members of the ensemble, including those of other waves, without those that were lost. */
  readonly members: MemberCount;
  /** Members that were lost. */
  readonly lostMembers: number;
  /** The ranks that train together. */
  readonly group: ProcessGroup;
  /** This rank's model. */
  readonly model: LayersModel;
  /** Zero-based epoch in which the weights were last updated. */
  readonly epoch: number;
  /** Updates so far. */
  readonly step: number;
  /** Whether this rank has ended before the others and contributes only its last predictions. */
  readonly isStandingBy: boolean;
  /** Saves the current weights as a checkpoint of this rank. */
  saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void>;
  /** Saves predictions in the run's folder, `predictions/<split>/rank-<r>/<name>.safetensors`. */
  savePredictions(name: string, predictions: Predictions): Promise<void>;
  /** Votes to end all ranks' training after this evaluation. */
  requestStop(): void;
  /** Ends this rank's training; it takes part in evaluations until all ranks have ended. */
  standBy(): void;
  /** Prints a message to the user and records it as an event of the run. */
  announce(kind: string, message: string): void;
  /** Reports a metric, by its full name, at this rank's current epoch and step. */
  log(metric: string, value: number): void;
}

/** A completed step of a rank. */
export interface StepEnd {
  /** Mean over the batch; null if the strategy knows it only later. */
  loss: number | null;
  /** Learning rate of the step. */
  learningRate: number;
}

/** A pending evaluation. Callbacks add metrics in turn, and read those of earlier callbacks. */
export interface Evaluation {
  /** The validation split. */
  readonly dataset: Dataset;
  /** This rank's predictions for the split. */
  readonly predictions: Predictions;
  /** Epoch of the furthest rank; this rank may be behind. */
  readonly epoch: number;
  /** Metrics by full name, e.g. `val/ens_nll`. */
  readonly metrics: Map<string, number>;
}

/**
 * A callback of the run, which observes and controls a rank's training. Callbacks run one after the other, in order.
 * All ranks have the same callbacks, so a callback may call collectives if it does so on every rank.
 */
export interface Callback {
  /** Unique among a trainer's callbacks; key of the saved state. */
  readonly name: string;
  /** Whether ranks that train one model have different states of it; absent: the same. */
  readonly isOfRank?: boolean;
  /** What is left of the scheduled learning rate in an epoch (zero-based); absent: all. */
  rateFactorAt?(epoch: number): number;
  /** Called before training, and whenever the user changes a setting of the run while it trains. */
  onSettings?(settings: RunSettings): void;
  /** Called after each step. It is synchronous, because training waits for it. */
  onStepEnd?(training: Training, step: StepEnd): void;
  /** Called after each epoch. */
  onEpochEnd?(training: Training): Promise<void>;
  /** Called at each evaluation, on every rank. */
  onEvaluation?(training: Training, evaluation: Evaluation): Promise<void>;
  /** Called after the last epoch. */
  onFitEnd?(training: Training): Promise<void>;
  /** Returns the state that a resume needs, as JSON. */
  state?(): unknown;
  /** Restores what `state` returned. */
  restore?(state: unknown): void;
}

/** `val/member_{rank}_nll` for rank 3 is `val/member_3_nll`. */
export function resolveMonitor(monitor: string, rank: number): string {
  return monitor.replaceAll('{rank}', String(rank));
}

/** Name of an epoch's files (zero-based), which sort in the order of epochs. */
export function epochName(epoch: number, kind: 'epoch' | 'top' = 'epoch'): string {
  return `${kind}-${String(epoch).padStart(5, '0')}`;
}

/** Says that a metric has stopped to improve. `best` is null where it never had a finite value. */
export function withoutImprovement(metric: string, evaluations: number, best: number | null): string {
  const known = best === null ? 'it never had a finite value' : `best ${best}`;
  return `${metric}: no improvement in ${evaluations} evaluations, ${known}.`;
}

/** Value of the monitored metric. @throws Error that lists the computed metrics if it is not among them */
export function monitored(metrics: ReadonlyMap<string, number>, monitor: string, rank: number): number {
  const name = resolveMonitor(monitor, rank);
  const value = metrics.get(name);
  if (value !== undefined) return value;
  const known = [...metrics.keys()].sort().join(', ');
  throw new Error(`There is no metric "${name}" to monitor. This evaluation computed ${known || 'none'}.`);
}

import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { CheckpointRecord, EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { PointBatch } from '../../core/protocol/wire/points.ts';
import type { WorkerState } from '../../core/protocol/run/messages.ts';

/** A rank's position in training. */
export interface Position {
  epoch: number;
  step: number;
}

/** Receives a rank's reports of its training: the worker sends them to the hub, a test collects them. */
export interface Report {
  state(state: WorkerState, position: Position): void;
  point(name: string, value: number, position: Position): void;
  progress(samplesPerSecond: number, position: Position): void;
  event(kind: string, message: string, position: Position, data?: Record<string, unknown>): void;
  /** What the project fitted on its training split. */
  fitted(preprocessing: Preprocessing): void;
  checkpoint(record: CheckpointRecord): void;
  evaluated(set: EvaluatedSet): void;
  /**
   * Resolves once all earlier reports are on disk, to the number of rows of the metrics that hold them; null where it
   * is unknown.
   */
  recorded(): Promise<number | null>;
  /** Number of points reported so far. */
  readonly reportedPoints: number;
  /** Those of the first `count` points that may be lost if the hub is gone now. */
  unrecorded(count: number): PointBatch;
}

/** An error that all ranks throw at the same rendezvous, with the same message. */
export class AgreedError extends Error {
  /** The rank that caused it, and its position. */
  readonly at: Position & { rank: number };

  constructor(message: string, at: Position & { rank: number }) {
    super(message);
    this.at = at;
  }
}

import type { EvaluatedSet, CheckpointRecord } from '../../core/protocol/run/record.ts';
import type { WorkerState } from '../../core/protocol/run/messages.ts';

/** Where a rank's training stands. */
export interface Position {
  epoch: number;
  step: number;
}

/** What a rank tells of its training; the worker passes it on to the hub, a test keeps it. */
export interface Report {
  state(state: WorkerState, position: Position): void;
  point(name: string, value: number, position: Position): void;
  progress(samplesPerSecond: number, position: Position): void;
  event(kind: string, message: string, position: Position, data?: Record<string, unknown>): void;
  checkpoint(record: CheckpointRecord): void;
  evaluated(set: EvaluatedSet): void;
  /** Resolves once everything told before is on disk. */
  recorded(): Promise<void>;
}

import type { LoadSample } from '../machine/device-loads.ts';
import type { WorkerState } from '../run/messages.ts';
import type { PointBatch } from '../wire/points.ts';
import type { CheckpointRecord, EvaluatedSet, RunEvent, RunRecord } from '../run/record.ts';

/** What happens in a run, as the hub tells those who watch it. */
export type RunUpdate =
  | { type: 'record'; record: RunRecord; folder: string }
  | { type: 'described'; about: RunFacts }
  | { type: 'worker'; rank: number; state: WorkerState | 'exited'; epoch: number; step: number; pid: number | null }
  | {
      type: 'progress';
      rank: number;
      epoch: number;
      step: number;
      /** Steps a rank does at most. */
      totalSteps: number;
      samplesPerSecond: number;
      memoryBytes: number;
    }
  | { type: 'points'; rank: number; batch: PointBatch }
  | ({ type: 'device-loads' } & LoadSample)
  | { type: 'event'; event: RunEvent }
  /** Something in the run's folder is damaged and was left out. */
  | { type: 'warning'; message: string }
  | { type: 'checkpoint'; record: CheckpointRecord }
  | { type: 'evaluated'; set: EvaluatedSet }
  | { type: 'ended'; record: RunRecord };

/** What is known of a run once its first rank has built its model. */
export interface RunFacts {
  task: string;
  backend: string;
  parameterCount: number;
  /** Steps a rank does at most. */
  totalSteps: number;
  ensembleMonitor: string;
  samples: { train: number; validation: number; test: number };
}

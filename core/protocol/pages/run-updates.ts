import { z } from 'zod';
import type { LoadSample } from '../machine/devices.ts';
import type { WorkerState } from '../run/messages.ts';
import type { PointBatch } from '../wire/points.ts';
import type { CheckpointRecord, EvaluatedSet, RunEvent, RunRecord } from '../run/record.ts';

/** An update of a run that the hub sends to the pages that watch it. */
export type RunUpdate =
  | { type: 'record'; record: RunRecord; folder: string }
  | { type: 'described'; about: RunFacts }
  | { type: 'worker'; rank: number; state: WorkerState | 'exited'; epoch: number; step: number; pid: number | null }
  | {
      type: 'progress';
      rank: number;
      epoch: number;
      step: number;
      /** Maximum number of steps of a rank. */
      totalSteps: number;
      samplesPerSecond: number;
      memoryBytes: number;
    }
  | { type: 'points'; rank: number; batch: PointBatch }
  | ({ type: 'device-loads' } & LoadSample)
  | { type: 'event'; event: RunEvent }
  /** A file in the run's folder is damaged; the damaged part was skipped. */
  | { type: 'warning'; message: string }
  | { type: 'checkpoint'; record: CheckpointRecord }
  | { type: 'evaluated'; set: EvaluatedSet }
  | { type: 'ended'; record: RunRecord };

const runFactsSchema = z.object({
  task: z.string(),
  backend: z.string(),
  parameterCount: z.int(),
  /** Multiplications of the largest matrix product of a step's forward pass; absent from runs of earlier versions. */
  largestProduct: z.int().optional(),
  /** Maximum number of steps of a rank. */
  totalSteps: z.int(),
  ensembleMonitor: z.string(),
  samples: z.object({ train: z.int(), validation: z.int(), test: z.int() }),
});
/** What is known of a run once its first rank has built its model. */
export type RunFacts = z.output<typeof runFactsSchema>;

/** The facts from the last `described` event of a run; null if there is none. */
export function factsOf(events: readonly RunEvent[]): RunFacts | null {
  const described = events.findLast(({ kind }) => kind === 'described');
  const parsed = runFactsSchema.safeParse(described?.data);
  return parsed.success ? parsed.data : null;
}

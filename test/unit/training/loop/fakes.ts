import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type PointBatch, PointBuffer } from '../../../../core/protocol/wire/points.ts';
import type { WorkerState } from '../../../../core/protocol/run/messages.ts';
import type { Preprocessing } from '../../../../core/preprocessing/schema.ts';
import type { CheckpointRecord, EvaluatedSet } from '../../../../core/protocol/run/record.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import type { Position, Report } from '../../../../workers/member/report.ts';

export interface ReportedPoint extends Position {
  name: string;
  value: number;
}

/** Records what a rank reports, in order. */
export class KeptReport implements Report {
  readonly states: WorkerState[] = [];
  readonly points: ReportedPoint[] = [];
  readonly progresses: number[] = [];
  readonly events: (Position & { kind: string; message: string; data: Record<string, unknown> })[] = [];
  readonly preprocessings: Preprocessing[] = [];
  readonly checkpoints: CheckpointRecord[] = [];
  readonly sets: EvaluatedSet[] = [];
  /** Number of points at the last `recorded`. */
  recordedPoints = 0;

  state(state: WorkerState): void {
    this.states.push(state);
  }

  point(name: string, value: number, { epoch, step }: Position): void {
    this.points.push({ name, value, epoch, step });
  }

  progress(samplesPerSecond: number): void {
    this.progresses.push(samplesPerSecond);
  }

  event(kind: string, message: string, { epoch, step }: Position, data: Record<string, unknown> = {}): void {
    this.events.push({ kind, message, epoch, step, data });
  }

  fitted(preprocessing: Preprocessing): void {
    this.preprocessings.push(preprocessing);
  }

  checkpoint(record: CheckpointRecord): void {
    this.checkpoints.push(record);
  }

  evaluated(set: EvaluatedSet): void {
    this.sets.push(set);
  }

  get reportedPoints(): number {
    return this.points.length;
  }

  unrecorded(count: number): PointBatch {
    const points = new PointBuffer();
    for (const { name, epoch, step, value } of this.points.slice(this.recordedPoints, count)) {
      points.add(name, epoch, step, value);
    }
    return points.take();
  }

  async recorded(): Promise<number | null> {
    this.recordedPoints = this.points.length;
    return this.recordedPoints;
  }
}

/** A temporary folder for the running test, removed afterwards. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-training-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Gives one rank the samples in their order, two per step. */
export function pairsInOrder(length: number): ReturnType<typeof createSampler> {
  const alone = { seed: 1, sharedSeed: 1, rank: 0, worldSize: 1 };
  return createSampler({ kind: 'sequential', length, batchSize: 2, dropLast: false, ...alone });
}

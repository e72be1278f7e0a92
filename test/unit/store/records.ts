import { type PointBatch, PointBuffer } from '../../../core/protocol/wire/points.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunEvent, RunRecord } from '../../../core/protocol/run/record.ts';

export function runRecord(changes: Partial<RunRecord> = {}, config: RunConfigInput = {}): RunRecord {
  return {
    format: 1,
    id: 'run-1',
    name: 'first',
    project: { name: 'wine', description: '', folder: '/projects/wine' },
    task: 'regression',
    config: runConfigSchema.parse(config),
    status: 'created',
    createdAt: '2026-01-02T03:04:05.000Z',
    endedAt: null,
    plan: [],
    seeds: [42, 43],
    blas: null,
    versions: {},
    gitCommit: null,
    attempts: [],
    hub: null,
    error: null,
    summary: null,
    ...changes,
  };
}

export function runEvent(changes: Partial<RunEvent> = {}): RunEvent {
  return {
    time: '2026-01-02T03:04:05.000Z',
    attempt: 1,
    rank: null,
    kind: 'started',
    epoch: null,
    step: null,
    message: 'Started.',
    data: {},
    ...changes,
  };
}

export function pointBatch(points: [epoch: number, step: number, metric: string, value: number][]): PointBatch {
  const buffer = new PointBuffer();
  for (const [epoch, step, metric, value] of points) buffer.add(metric, epoch, step, value, 0);
  return buffer.take();
}

import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { type PointBatch, PointBuffer } from '../../../core/protocol/wire/points.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import type { RunFacts } from '../../../core/protocol/pages/run-updates.ts';

/** A run of two members on two cores, as in its record before it starts. */
export function recordOf(config: RunConfigInput = {}, changes: Partial<RunRecord> = {}): RunRecord {
  return {
    format: 1,
    id: '20261121-081502-blobs-3fa9',
    name: 'Blobs',
    project: { name: 'Blobs', description: 'Three blobs.', folder: '/projects/blobs' },
    task: 'classification',
    config: runConfigSchema.parse(config),
    status: 'running',
    createdAt: '2026-11-21T08:15:02.000Z',
    endedAt: null,
    plan: [placementOf(0), placementOf(1)],
    seeds: [42, 43],
    blas: null,
    versions: {},
    gitCommit: null,
    attempts: [{ attempt: 1, startedAt: '2026-11-21T08:15:02.000Z', endedAt: null, status: 'running' }],
    hub: null,
    error: null,
    summary: null,
    ...changes,
  };
}

export function placementOf(rank: number, wave = 0): Placement {
  const device = { id: `cpu:${rank}`, kind: 'cpu', index: rank, name: 'Core' } as const;
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  return { rank, wave, device: { ...device, ...unknown } };
}

export const facts: RunFacts = {
  task: 'classification',
  backend: 'wasm (128-bit SIMD, relaxed, one core)',
  parameterCount: 51,
  totalSteps: 8000,
  ensembleMonitor: 'val/ens_nll',
  samples: { train: 60, validation: 30, test: 30 },
};

export function pointsOf(
  points: { name: string; epoch: number; step: number; value: number; timeMs?: number }[],
): PointBatch {
  const buffer = new PointBuffer();
  for (const { name, epoch, step, value, timeMs = 0 } of points) buffer.add(name, epoch, step, value, timeMs);
  return buffer.take();
}

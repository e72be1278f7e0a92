import { runConfigSchema } from '../core/protocol/run/config.ts';
import type { RunRecord } from '../core/protocol/run/record.ts';
import { rankCount } from '../core/protocol/run/strategies/ranks-and-members.ts';
import { planPlacement } from '../src-main/devices/plan.ts';

export const ranks = 16;

/** The record of a run that is not trained. */
export function benchRecord(id: string, changes: Partial<RunRecord> = {}, members = ranks): RunRecord {
  const config = runConfigSchema.parse({ members });
  const now = new Date().toISOString();
  const core = { kind: 'cpu' as const, memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  const devices = [{ id: 'cpu:0', index: 0, name: 'a core', ...core }];
  return {
    format: 1,
    id,
    name: id,
    project: { name: 'bench', description: '', folder: '/' },
    task: 'classification',
    config,
    status: 'finished',
    createdAt: now,
    endedAt: null,
    plan: planPlacement({ ranks: rankCount(members), devices, placement: 'share' }),
    seeds: Array.from({ length: members }, (_, rank) => rank),
    blas: null,
    versions: {},
    gitCommit: null,
    attempts: [{ attempt: 1, startedAt: now, endedAt: null, status: 'running' }],
    hub: null,
    error: null,
    summary: null,
    ...changes,
  };
}

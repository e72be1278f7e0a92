import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { memberCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { RunView } from '../../../core/protocol/pages/run-views.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';

const startedAt = '2026-01-01T00:00:00.000Z';

export const attempt = (number: number): RunRecord['attempts'][number] => ({
  attempt: number,
  startedAt,
  endedAt: null,
  status: 'running',
});

/** The record of a run with one member that is training. */
export function runRecord(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    format: 1,
    id: 'r',
    name: 'run',
    project: { name: 'p', description: '', folder: '/p' },
    task: 'regression',
    config: runConfigSchema.parse({}),
    status: 'running',
    createdAt: startedAt,
    endedAt: null,
    plan: [],
    seeds: [42],
    blas: null,
    versions: {},
    gitCommit: null,
    attempts: [attempt(1)],
    hub: null,
    error: null,
    summary: null,
    ...changes,
  };
}

/** The run's row in the table of runs. */
export function runRow(changes: Partial<RunRow> = {}): RunRow {
  return {
    id: 'r',
    folder: '/runs/r',
    name: 'run',
    project: 'p',
    projectFolder: '/projects/p',
    task: 'regression',
    strategy: 'independent',
    status: 'running',
    members: memberCount(1),
    best: null,
    createdAt: startedAt,
    endedAt: null,
    trainedSeconds: 0,
    startedAt,
    error: null,
    notFinite: null,
    origin: null,
    sweep: null,
    tags: [],
    note: '',
    isArchived: false,
    ...changes,
  };
}

/** The run as the hub returns it to the page. */
export function runView(changes: Partial<RunView> = {}): RunView {
  return {
    record: runRecord(),
    folder: '/runs/r',
    row: runRow(),
    isInReach: true,
    isFollowedHere: false,
    holdsState: true,
    totalSteps: null,
    ensembleMonitor: null,
    ranks: [
      {
        rank: 0,
        device: 'cpu:0',
        deviceName: 'core',
        wave: 0,
        seed: 42,
        pid: null,
        state: 'loading',
        epoch: 0,
        step: 0,
        loss: null,
        samplesPerSecond: null,
        memoryBytes: null,
      },
    ],
    metrics: ['train/loss'],
    events: [],
    warnings: [],
    evaluatedSets: [],
    plots: [],
    ...changes,
  };
}

import { acquisitionSchema, type Search } from '../../../core/discovery/search.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';

/** Candidates of the pool. */
export const candidates = 40;

export function searchOf(changes: Partial<Search> = {}): Search {
  return {
    format: 1,
    id: 'test',
    name: 'Test',
    createdAt: '2026-11-23T08:00:00.000Z',
    project: { name: 'Test', folder: '/project' },
    sourceHash: null,
    task: 'binary',
    config: runConfigSchema.parse({}),
    goal: { kind: 'class', label: 1 },
    oracle: { kind: 'hidden' },
    acquisition: acquisitionSchema.parse({ kind: 'thompson' }),
    beside: ['random', 'greedy'],
    start: 6,
    isStartStratified: true,
    perRound: 3,
    rounds: 4,
    hasClassWeights: false,
    isWarm: false,
    seed: 5,
    ...changes,
  };
}

export function poolOf(changes: Partial<Pool> = {}): Pool {
  return {
    format: 1,
    name: 'pool',
    samples: candidates,
    featureShape: [1],
    classCount: 2,
    classNames: null,
    texts: { name: Array.from({ length: candidates }, (_, i) => `sample "${i}"`) },
    excluded: [],
    sha256: '0'.repeat(64),
    ...changes,
  };
}

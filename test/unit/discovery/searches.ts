import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Search, SearchLine } from '../../../core/discovery/search.ts';
import { acquisitionSchema } from '../../../core/discovery/settings.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { SearchSession, type SearchUpdate } from '../../../src-main/discovery/run-search.ts';
import { readLines } from '../../../src-main/discovery/search-folder.ts';
import type { RoundPlace } from '../../../src-main/discovery/train-round.ts';
import { beliefFrom } from './recorded.ts';

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

/** Labels 1 for every fifth candidate. */
const targets = Int32Array.from({ length: candidates }, (_, i) => Number(i % 5 === 2));

/** A session in a folder, whose ensembles are functions of their labels. @param trained the rounds that were trained */
export async function sessionIn(
  folder: string,
  search: Search,
  trained: RoundPlace[] = [],
): Promise<{ session: SearchSession; updates: SearchUpdate[] }> {
  const updates: SearchUpdate[] = [];
  const session = new SearchSession({
    folder,
    search,
    opened: { pool: poolOf(), targets, features: null },
    lines: await readLines(folder),
    train: (place, labels) => {
      trained.push(place);
      return Promise.resolve({ belief: beliefAfter(labels), metrics: { nll: labels.size } });
    },
    forget: () => Promise.resolve(),
    tell: (update) => updates.push(update),
    signal: new AbortController().signal,
  });
  return { session, updates };
}

/** Values of three members that depend on every label and on the order of the labels. */
function beliefAfter(labels: ReadonlyMap<number, number>) {
  let sum = 0;
  [...labels].forEach(([index, label], place) => (sum += (index + 1) * (label + 2) * (place + 3)));
  return beliefFrom(
    Float64Array.from({ length: 3 * candidates }, (_, i) => Math.sin(sum * (i + 1))),
    3,
  );
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'tutti-search-'));

/** Lines without what differs between two processes. */
export function withoutTimes(lines: readonly SearchLine[]): unknown[] {
  return lines.map((line) => ({ ...line, time: null, seconds: null }));
}

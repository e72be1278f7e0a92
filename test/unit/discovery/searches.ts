import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Search, SearchLine } from '../../../core/discovery/search.ts';
import { SearchSession, type SearchUpdate } from '../../../src-main/discovery/run-search.ts';
import { readLines } from '../../../src-main/discovery/search-folder.ts';
import type { RoundPlace } from '../../../src-main/discovery/train-round.ts';
import { candidates, poolOf } from './records.ts';
import { beliefFrom } from './recorded.ts';

/** Labels 1 for every fifth candidate. */
const targets = Int32Array.from({ length: candidates }, (_, i) => Number(i % 5 === 2));

/** A session in a folder, whose ensembles are functions of their labels. @param trained is told the rounds that train */
export async function sessionIn(
  folder: string,
  search: Search,
  trained: { push(place: RoundPlace): unknown } = [] as RoundPlace[],
): Promise<{ session: SearchSession; updates: SearchUpdate[] }> {
  const updates: SearchUpdate[] = [];
  const session = new SearchSession({
    folder,
    search,
    opened: { pool: poolOf(), targets, features: null },
    lines: await readLines(folder),
    train: (place, labels, signal) => {
      trained.push(place);
      signal.throwIfAborted();
      return Promise.resolve({ belief: beliefAfter(labels), metrics: { nll: labels.size } });
    },
    forget: () => Promise.resolve(),
    tell: (update) => updates.push(update),
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

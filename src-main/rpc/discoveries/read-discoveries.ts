import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { chosenBy, hitsOf, isHit, progressOf, type SearchProgress } from '../../../core/discovery/progress.ts';
import { type ArmChoice, armsOf, type Search } from '../../../core/discovery/search.ts';
import type { HitsOfPool } from '../../../core/discovery/hits.ts';
import type { ChosenBatch, DiscoverySummary, DiscoveryView } from '../../../core/protocol/pages/discovery-views.ts';
import { type Pool, poolSchema } from '../../../core/protocol/run/pool-task.ts';
import { readLines, readSearch, searchPaths } from '../../discovery/search-folder.ts';
import { homePaths } from '../../store/home.ts';
import { readTensors } from '../../store/runs/safetensors-reader.ts';

/** The searches in Tutti's home, the newest first. Folders that hold none are left out. */
export async function listDiscoveries(): Promise<DiscoverySummary[]> {
  const { discoveries } = homePaths();
  const names = (await unlessMissing(readdir(discoveries))) ?? [];
  const own = names.filter((name) => existsSync(join(discoveries, name, 'discovery.json')));
  const found = await Promise.all(own.map((name) => summarize(join(discoveries, name))));
  return found.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
}

async function summarize(folder: string): Promise<DiscoverySummary> {
  const search = await readSearch(folder);
  const progress = progressOf(search, await readLines(folder));
  const { name, project, createdAt, rounds } = search;
  // A copy of a search has the same id.
  const id = basename(folder);
  const arms = armsOf(search).map((arm) => {
    const hits = hitsOf(search, progress, arm);
    return { arm, rounds: progress.choices.get(arm)?.length ?? 0, labels: hits.length, hits: hits.at(-1) ?? 0 };
  });
  return { id, name, project: project.name, createdAt, rounds, arms };
}

/** A search of Tutti's home with its choices. @throws Error if there is none of this id */
export async function readDiscovery(id: string): Promise<DiscoveryView> {
  const folder = join(homePaths().discoveries, id);
  if (!/^\w[\w-]*$/.test(id) || !existsSync(join(folder, 'discovery.json'))) {
    throw new Error(
      `There is no search "${id}" in ${homePaths().discoveries}. It may have been removed: go back to the list.`,
    );
  }
  const search = await readSearch(folder);
  const progress = progressOf(search, await readLines(folder));
  const text = await unlessMissing(readFile(searchPaths(folder).pool, 'utf8'));
  // Before its pool has been read a search has chosen nothing.
  const pool = text === null ? null : poolSchema.parse(JSON.parse(text));
  const [first] = armsOf(search);
  return {
    search,
    folder,
    candidates: pool?.samples ?? 0,
    pool: pool === null ? null : await hitsInPool(folder, search, progress),
    arms: armsOf(search).map((arm) => ({
      arm,
      rounds: progress.choices.get(arm)?.length ?? 0,
      hits: [...hitsOf(search, progress, arm)],
    })),
    choices:
      pool === null ? [] : (progress.choices.get(first) ?? []).map((choice) => batchOf(search, progress, pool, choice)),
    excluded: pool?.excluded ?? [],
  };
}

/** All hits, where the pool's own targets are the oracle. */
async function hitsInPool(folder: string, search: Search, progress: SearchProgress): Promise<HitsOfPool | null> {
  if (search.oracle.kind !== 'hidden') return null;
  const { tensors } = await readTensors(folder, 'pool.safetensors');
  const targets = [...(tensors.get('targets')?.data ?? [])];
  const start = chosenBy({ ...progress, choices: new Map() }, '');
  const hitsAtStart = start.filter((index) => isHit(search.goal, targets[index])).length;
  const hits = targets.filter((target) => isHit(search.goal, target)).length;
  return { candidates: targets.length, hits, started: start.length, hitsAtStart };
}

function batchOf(
  { goal }: Search,
  { labels }: SearchProgress,
  { texts }: Pool,
  { round, indices, scores, means, deviations }: ArmChoice,
): ChosenBatch {
  const own = indices.map((index) => labels.get(index) ?? null);
  return {
    round,
    indices,
    scores,
    means,
    deviations,
    labels: own,
    isHit: own.map((label) => (label === null ? null : isHit(goal, label))),
    texts: Object.fromEntries(
      Object.entries(texts).map(([column, all]) => [column, indices.map((index) => all[index])]),
    ),
  };
}

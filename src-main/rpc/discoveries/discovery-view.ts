import { basename } from 'node:path';
import { calibrationOf, predictedLabel } from '../../../core/discovery/calibration.ts';
import {
  chosenBy,
  hitsOf,
  type HitsOfPool,
  isHit,
  type SearchProgress,
  unlabelled,
} from '../../../core/discovery/progress.ts';
import { type ArmChoice, armsOf, type Search } from '../../../core/discovery/search.ts';
import type {
  ArmProgress,
  CandidateLooks,
  ChosenBatch,
  DiscoveryQuestion,
  DiscoveryStatus,
  DiscoverySummary,
  DiscoveryView,
  PoolMapView,
} from '../../../core/protocol/pages/discovery-views.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';
import { predictedIn, type Question } from '../../discovery/person.ts';
import type { KeptPool, KeptSearch } from './kept-search.ts';
import type { Drawings } from '../../discovery/drawings.ts';
import type { StoredMap } from '../../discovery/map-pool.ts';
import { shownCandidates } from './round-prediction.ts';

/** What this process knows of a search beyond its files. */
export interface SearchNow {
  /** Whether any process works on it, and whether this one does. */
  isRunning: boolean;
  isHere: boolean;
  /** Why this process could not go on; null if it could. */
  failure: string | null;
}

export function summarize(kept: KeptSearch, now: SearchNow): DiscoverySummary {
  const { search, progress, folder } = kept;
  const { name, project, createdAt, rounds } = search;
  const arms = armsOf(search).map((arm) => {
    const hits = hitsOf(search, progress, arm);
    return { arm, rounds: progress.choices.get(arm)?.length ?? 0, labels: hits.length, hits: hits.at(-1) ?? 0 };
  });
  // A copy of a search has the same id.
  return { id: basename(folder), name, project: project.name, status: statusOf(kept, now), createdAt, rounds, arms };
}

/** @param kept null before its pool has been read: then a search has chosen nothing */
export function viewSearch(kept: KeptSearch, known: KeptPool | null, now: SearchNow): DiscoveryView {
  const { folder, search, progress } = kept;
  const [first] = armsOf(search);
  const choices = known === null ? [] : (progress.choices.get(first) ?? []);
  const start = [...(progress.start ?? [])];
  return {
    search,
    folder,
    status: statusOf(kept, now),
    isHere: now.isHere,
    failure: now.failure,
    candidates: known?.pool.samples ?? 0,
    pool: known === null ? null : hitsInPool(known, search, progress),
    start: { indices: start, isHit: start.map((index) => outcome(search, progress, index)) },
    arms: armsOf(search).map((arm) => armProgress(search, progress, arm)),
    choices: known === null ? [] : choices.map((choice) => batchOf(search, progress, known.pool, choice)),
    question: known === null ? null : pageQuestion(kept, known.pool),
    excluded: known?.pool.excluded ?? [],
  };
}

/** What a person has to label before the search goes on; null where nobody is asked. */
export function waitingQuestion({ search, progress }: KeptSearch): Question | null {
  if (search.oracle.kind !== 'person' || progress.start === null) return null;
  const start = unlabelled(progress, progress.start);
  if (start.length > 0) return { indices: start, predicted: null };
  const asked = [...progress.choices.values()].flatMap((choices) => choices.slice(-1));
  const indices = unlabelled(
    progress,
    asked.flatMap((choice) => choice.indices),
  );
  if (indices.length === 0) return null;
  return { indices, predicted: new Map(asked.flatMap((choice) => [...predictedIn(choice, search.goal)])) };
}

function pageQuestion(kept: KeptSearch, pool: Pool): DiscoveryQuestion | null {
  const question = waitingQuestion(kept);
  if (question === null) return null;
  const { indices, predicted } = question;
  return {
    indices: [...indices],
    means: indices.map((index) => predicted?.get(index)?.mean ?? NaN),
    deviations: indices.map((index) => predicted?.get(index)?.deviation ?? NaN),
    texts: textsOfAll(pool, indices),
    classNames: pool.classNames,
    classCount: pool.classCount,
  };
}

function statusOf(kept: KeptSearch, { isRunning, failure }: SearchNow): DiscoveryStatus {
  const { search, progress } = kept;
  if (isRunning) return 'running';
  if (failure !== null) return 'failed';
  if (waitingQuestion(kept) !== null) return 'waiting';
  const isDone = armsOf(search).every((arm) => {
    const choices = progress.choices.get(arm) ?? [];
    return choices.length >= search.rounds && unlabelled(progress, choices.at(-1)?.indices ?? []).length === 0;
  });
  return isDone ? 'finished' : 'stopped';
}

function armProgress(search: Search, progress: SearchProgress, arm: string): ArmProgress {
  const labels = chosenBy(progress, arm).flatMap((index) => progress.labels.get(index) ?? []);
  return {
    arm,
    rounds: progress.choices.get(arm)?.length ?? 0,
    labels,
    hits: [...hitsOf(search, progress, arm)],
  };
}

/** All hits, where the pool's own targets are the oracle. */
function hitsInPool({ targets }: KeptPool, { oracle, goal }: Search, { start }: SearchProgress): HitsOfPool | null {
  if (oracle.kind !== 'hidden') return null;
  const begun = start ?? [];
  const hitsAtStart = begun.filter((index) => isHit(goal, targets[index])).length;
  const hits = targets.filter((target: number) => isHit(goal, target)).length;
  return { candidates: targets.length, hits, started: begun.length, hitsAtStart };
}

function batchOf(search: Search, progress: SearchProgress, pool: Pool, choice: ArmChoice): ChosenBatch {
  const { round, indices, scores, means, deviations, metrics, seconds } = choice;
  return {
    round,
    indices,
    scores,
    means: means.map((mean) => predictedLabel(search.goal, mean)),
    deviations,
    metrics,
    seconds,
    labels: indices.map((index) => progress.labels.get(index) ?? null),
    isHit: indices.map((index) => outcome(search, progress, index)),
    texts: textsOfAll(pool, indices),
    calibration: calibrationOf(search.goal, choice, progress.labels),
  };
}

function outcome({ goal }: Search, { labels }: SearchProgress, index: number): boolean | null {
  const label = labels.get(index);
  return label === undefined ? null : isHit(goal, label);
}

/** The places of the candidates that charts show. */
export function viewMap(kept: KeptSearch, { pca, umap, explained }: StoredMap): PoolMapView {
  const indices = shownCandidates(kept, pca.length / 2);
  const column = (places: ArrayLike<number>, axis: 0 | 1): Float32Array =>
    Float32Array.from(indices, (index) => places[2 * index + axis]);
  return {
    indices,
    pca: { x: column(pca, 0), y: column(pca, 1), explained },
    umap: { x: column(umap, 0), y: column(umap, 1) },
  };
}

/** Texts of candidates, and their structures where a column is named `smiles`. */
export async function lookAt(pool: Pool, indices: readonly number[], drawings: Drawings): Promise<CandidateLooks> {
  const unknown = indices.find((index) => index >= pool.samples);
  if (unknown !== undefined) throw new Error(`${unknown} is no candidate: the pool has 0 to ${pool.samples - 1}.`);
  const texts = textsOfAll(pool, indices);
  const column = Object.keys(texts).find((name) => name.toLowerCase() === 'smiles');
  return { texts, drawings: column === undefined ? indices.map(() => null) : await drawings.draw(texts[column]) };
}

function textsOfAll({ texts }: Pool, indices: readonly number[]): Record<string, string[]> {
  return Object.fromEntries(Object.entries(texts).map(([column, all]) => [column, indices.map((index) => all[index])]));
}

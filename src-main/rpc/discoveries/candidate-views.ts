import type { CandidateLooks, PoolMapView } from '../../../core/protocol/pages/discovery/discovery-views.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';
import type { Drawings } from '../../discovery/drawings.ts';
import type { StoredMap } from '../../discovery/map-pool.ts';
import type { KeptSearch } from './kept-search.ts';
import { shownCandidates } from './round-prediction.ts';

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

export function textsOfAll({ texts }: Pool, indices: readonly number[]): Record<string, string[]> {
  return Object.fromEntries(Object.entries(texts).map(([column, all]) => [column, indices.map((index) => all[index])]));
}

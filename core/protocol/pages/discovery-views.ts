import type { HitsOfPool } from '../../discovery/hits.ts';
import type { ArmChoice, Search } from '../../discovery/search.ts';

/** What an arm of a search has found. */
export interface ArmProgress {
  arm: string;
  /** Rounds that it has chosen. */
  rounds: number;
  /** Hits among its first 1, 2, ..., L labels; shape `[L]`. */
  hits: number[];
}

/** A search of `tutti discover` in lists. */
export interface DiscoverySummary {
  /** The name of its folder. */
  id: string;
  name: string;
  project: string;
  createdAt: string;
  rounds: number;
  /** The chosen acquisition first. */
  arms: { arm: string; rounds: number; labels: number; hits: number }[];
}

/** A search with all of its choices. */
export interface DiscoveryView {
  search: Search;
  folder: string;
  /** What is known of the pool's hits; null unless the pool's own targets are the oracle. */
  pool: HitsOfPool | null;
  candidates: number;
  arms: ArmProgress[];
  /** The choices of the chosen acquisition, by round. */
  choices: ChosenBatch[];
  /** What the project left out of the pool. */
  excluded: string[];
}

/** A batch with what was predicted and what came out. */
export interface ChosenBatch extends Pick<ArmChoice, 'round' | 'indices' | 'scores' | 'means' | 'deviations'> {
  /** Null where a label is still missing. */
  labels: (number | null)[];
  /** Whether each is a hit; null where a label is missing. */
  isHit: (boolean | null)[];
  /** What the candidates are, by column; shape `[batch]` each. */
  texts: Record<string, string[]>;
}

/** The calls of pages that concern searches. They are part of `HubApi`. */
export interface DiscoveryApi {
  /** The searches in Tutti's home, the newest first. */
  discoveries(): Promise<DiscoverySummary[]>;
  /** @throws if there is no such search, or its files are damaged */
  discovery(id: string): Promise<DiscoveryView>;
}

import type { BatchCalibration } from '../../discovery/calibration.ts';
import type { HitsOfPool } from '../../discovery/progress.ts';
import { type ArmChoice, type Search, searchSchema } from '../../discovery/search.ts';
import type { MoleculeDrawing } from '../run/pool-task.ts';
import { z } from 'zod';

/**
 * `running`: a process works on it; `waiting`: a person has to give labels; `finished`: all its rounds are done;
 * `failed`: this process could not go on; `stopped`: none of these.
 */
export type DiscoveryStatus = 'running' | 'waiting' | 'finished' | 'failed' | 'stopped';

/** What an arm of a search has found. */
export interface ArmProgress {
  arm: string;
  /** Rounds that it has chosen. */
  rounds: number;
  /** Its labels in the order in which they came, of which the first belong to the start; shape `[L]`. */
  labels: number[];
  /** Hits among the first 1, 2, ..., L of them; shape `[L]`. */
  hits: number[];
}

/** A search of `tutti discover` in lists. */
export interface DiscoverySummary {
  /** The name of its folder. */
  id: string;
  name: string;
  project: string;
  status: DiscoveryStatus;
  createdAt: string;
  rounds: number;
  /** The chosen acquisition first. */
  arms: { arm: string; rounds: number; labels: number; hits: number }[];
}

/** A search with all of its choices. */
export interface DiscoveryView {
  search: Search;
  folder: string;
  status: DiscoveryStatus;
  /** Whether this process works on it, so that `stopDiscovery` ends that work. */
  isHere: boolean;
  /** Why this process could not go on; null unless the status is `failed`. */
  failure: string | null;
  /** What is known of the pool's hits; null unless the pool's own targets are the oracle. */
  pool: HitsOfPool | null;
  candidates: number;
  /** The candidates labelled before the first choice, and which of them are hits; null where a label is missing. */
  start: { indices: number[]; isHit: (boolean | null)[] };
  arms: ArmProgress[];
  /** The choices of the chosen acquisition, by round. */
  choices: ChosenBatch[];
  /** What a person has to label; null where nobody is asked. */
  question: DiscoveryQuestion | null;
  /** What the project left out of the pool. */
  excluded: string[];
}

/** A batch with what was predicted and what came out. */
export interface ChosenBatch extends Pick<
  ArmChoice,
  'round' | 'indices' | 'scores' | 'deviations' | 'metrics' | 'seconds'
> {
  /** What was predicted, as a label: of a search for small values not negated. */
  means: number[];
  /** Null where a label is still missing. */
  labels: (number | null)[];
  /** Whether each is a hit; null where a label is missing. */
  isHit: (boolean | null)[];
  /** What the candidates are, by column; shape `[batch]` each. */
  texts: Record<string, string[]>;
  /** How well the predictions fitted the labels; null before the first label, and where nothing was predicted. */
  calibration: BatchCalibration | null;
}

/** Candidates that wait for labels. */
export interface DiscoveryQuestion {
  indices: number[];
  /** What is predicted of each, as a label; NaN before the first round. */
  means: number[];
  deviations: number[];
  texts: Record<string, string[]>;
  /** Names of the classes; null where they have none, or labels are values. */
  classNames: string[] | null;
  /** Number of classes; null where labels are values. */
  classCount: number | null;
}

/** What the ensemble of a round predicted of the pool. Means are labels, as in {@link ChosenBatch}. */
export interface RoundPrediction {
  round: number;
  /** Candidates that charts show, ascending: a sample of the pool and all that the first acquisition has chosen. */
  indices: Int32Array;
  /** Both of the length of `indices`. */
  means: Float32Array;
  deviations: Float32Array;
  /** Means of the whole pool, counted in bins of equal width from `from` to `to`. */
  histogram: { from: number; to: number; counts: Float64Array };
}

/** Where candidates lie on two maps of the pool. */
export interface PoolMapView {
  /** Candidates as in {@link RoundPrediction}, ascending. */
  indices: Int32Array;
  /** The first two principal components, both of the length of `indices`, and their shares of the variance. */
  pca: { x: Float32Array; y: Float32Array; explained: [number, number] };
  umap: { x: Float32Array; y: Float32Array };
}

/** What some candidates are. */
export interface CandidateLooks {
  /** The texts of each column, as many as the question has candidates. */
  texts: Record<string, string[]>;
  /** Structures, where the pool has SMILES and they can be drawn. */
  drawings: (MoleculeDrawing | null)[];
}

/** A request to begin a search. */
export const searchRequestSchema = searchSchema
  .pick({
    goal: true,
    oracle: true,
    acquisition: true,
    beside: true,
    start: true,
    isStartStratified: true,
    perRound: true,
    rounds: true,
    hasClassWeights: true,
    isWarm: true,
    seed: true,
  })
  .extend({
    projectFolder: z.string().min(1),
    /** Null: the project's. */
    name: z.string().min(1).nullable(),
    /** Changes to the project's defaults in all rounds, nested as in the configuration. */
    overrides: z.record(z.string(), z.unknown()),
  });
export type SearchRequest = z.output<typeof searchRequestSchema>;

/**
 * Labels that a person gives: one by one, in words or numbers, or as the text of a CSV file with the columns `index`
 * and `label`.
 */
export const answersSchema = z.union([
  z.strictObject({ labels: z.array(z.strictObject({ index: z.int().min(0), label: z.string() })).max(100_000) }),
  z.strictObject({ file: z.string(), csv: z.string().max(10_000_000) }),
]);
export type Answers = z.output<typeof answersSchema>;

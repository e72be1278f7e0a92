import type { Combination } from '../../metrics/combination.ts';
import { z } from 'zod';
import { checkpointKeySchema } from '../run/checkpoint-tasks.ts';
import type { CheckpointRecord } from '../run/record.ts';
import type { Postprocessing } from '../../postprocessing/schema.ts';
import type { DeviceLoadColumns } from '../machine/devices.ts';
import type { MetricPoints } from '../wire/points.ts';
import type { RunRow } from './run-list.ts';
import type { RunView } from './run-views.ts';

export const seriesRequestSchema = z.strictObject({
  names: z.array(z.string()),
  maximumPoints: z.int().min(100),
  fromStep: z.int().nullable(),
  toStep: z.int().nullable(),
});
export type SeriesRequest = z.output<typeof seriesRequestSchema>;

export interface SeriesData {
  series: MetricPoints[];
}

export interface CheckpointList {
  cells: CheckpointCell[];
  /** Damaged records, whose checkpoints are not listed. */
  warnings: string[];
}

export interface CheckpointCell {
  record: CheckpointRecord;
  isPinned: boolean;
  isEnsembleBest: boolean;
  isMemberBest: boolean;
}

/** The ending of a ZIP that holds a whole run. `tutti import` makes it a run again, and the desktop app opens it. */
export const runFileEnding = '.tutti';

/** A file that a page has sent in parts. */
export const importRequestSchema = z.strictObject({
  upload: z.uuid(),
  /** Its name on the user's machine, which the run notes. */
  name: z.string().min(1).max(255),
});
export type ImportRequest = z.output<typeof importRequestSchema>;

/** A run that was imported, or that was here already. */
export interface ImportedRunView {
  id: string;
  isNew: boolean;
}

export const exportRequestSchema = z.strictObject({
  /** Formats, named as for `tutti export --format`; an empty list means all but `tfjs`. */
  formats: z.array(z.string()),
  /** The checkpoints to include; null for all. */
  checkpoints: z.array(checkpointKeySchema).min(1).nullable(),
});
export type ExportRequest = z.output<typeof exportRequestSchema>;

export interface ExportResult {
  path: string;
  link: string | null;
  bytes: number;
  /** Possible differences from the time when the run trained. */
  warnings: string[];
}

/** Predictions of M members for N samples, W values each; one array `[M, N, W]` per output of the task. */
export interface PredictionData {
  task: string;
  /** How the members answer. */
  combination: Combination;
  /** The outputs: logits (or probabilities) of classifiers, else means and variances. */
  kind: 'logits' | 'probabilities' | 'values';
  ranks: number[];
  epoch: number;
  samples: number;
  /**
   * Predictions that each sample of the split has, in their order: more than one where it has a target for each step.
   */
  positions: number;
  width: number;
  outputs: Float32Array[];
  /** Class labels or values, `[N]` (or `[N, T]`). */
  targets: Float32Array | Int32Array;
  /** Weights of the targets, in their shape; null: all count alike. */
  weights: Float64Array | null;
  /** The feature of each sample if there is only one (regression is drawn over it), else null. */
  feature: Float32Array | null;
  classNames: string[] | null;
  /** Names of the targets that are values, `[T]`; null: they have none. */
  targetNames: string[] | null;
  /** Whether members held out different samples to validate on: a member's predictions of all others are NaN. */
  areHeldOut: boolean;
  /**
   * Place of each of these samples among all of the split, `[N]`, where samples without weight were left out; null:
   * they are all of it.
   */
  places: Int32Array | null;
}

/**
 * Everything that the report of a run shows. One frame of `rpc.ts`, so that arrays, NaN and infinities survive.
 */
export interface ReportData {
  /** When it was written, as in the record of a run. */
  writtenAt: string;
  version: string;
  view: RunView;
  /** The points of all metrics, thinned so that the file stays small. */
  series: MetricPoints[];
  deviceLoads: DeviceLoadColumns[];
  predictions: { split: 'validation' | 'test'; name: string; epoch: number; data: PredictionData }[];
  postprocessing: Postprocessing[];
  /** The run that this one is a fork of, and its forks. */
  relatives: { origin: RunRow[]; forks: RunRow[] };
}

/** The element of a report that holds its data: base64 of the gzip of one frame. */
export const reportDataId = 'report-data';

import { z } from 'zod';
import type { DeviceLoadColumns } from '../machine/device-loads.ts';
import type { deviceSchema, placementSchema } from '../machine/devices.ts';
import type { controlSchema } from '../run/messages.ts';
import { realNumber } from '../wire/numbers.ts';
import type { OptionDescription } from '../../options/index.ts';
import type { PointBatch } from '../wire/points.ts';
import type { ProjectDescription } from '../run/project-description.ts';
import {
  type CheckpointRecord,
  type EvaluatedSet,
  type RunEvent,
  type RunRecord,
  runStatusSchema,
} from '../run/record.ts';
import type { RunConfig } from '../run/config.ts';
import type { RunUpdate } from './run-updates.ts';

/**
 * The one contract between a page and the hub, over Electron's messages or a WebSocket. Arguments are checked by the schemas
 * below where they arrive; typed arrays travel as they are (`rpc-codec.ts`), so NaN survives and nothing large becomes JSON.
 */

/** What the pages may ask of the hub. Every method rejects with an error whose message is meant for the user. */
export interface HubApi {
  /** Versions, home, devices, backends and what is missing, with remedies. */
  health(): Promise<Health>;
  /** Shows a folder in the file manager of the machine that Tutti runs on. @throws where there is none */
  openFolder(name: FolderName): Promise<void>;

  /** Examples that come along, then projects opened lately, newest first: at once, whether they have been described or not. */
  projects(): Promise<ProjectCard[]>;
  /** The card of a project that has been described: its code is asked, which takes about a second. */
  projectCard(folder: string): Promise<ProjectCard>;
  /** Remembers a folder as a project. @throws when it holds none */
  openProject(folder: string): Promise<ProjectCard>;
  forgetProject(folder: string): Promise<void>;
  describeProject(folder: string): Promise<DescribedProject>;
  /** Checks a configuration without starting it: never throws for a wrong one, but says what is wrong with which option. */
  previewRun(request: RunRequest): Promise<RunPreview>;
  startRun(request: RunRequest): Promise<{ id: string }>;
  /** As `previewRun`, of going on with a run with some options changed. */
  previewResume(id: string, overrides: RunRequest['overrides']): Promise<RunPreview>;
  resumeRun(id: string, overrides: RunRequest['overrides']): Promise<void>;

  runs(): Promise<RunRow[]>;
  updateRun(id: string, changes: RunNotes): Promise<void>;
  /** Moves a run's folder aside; `undoDelete` with the run's id brings it back within 10 s, later it is gone. */
  deleteRun(id: string): Promise<void>;
  /** @param deletion a run's id, or what `deleteCheckpoints` returned */
  undoDelete(deletion: string): Promise<void>;

  /** Everything about a run but its metrics. */
  run(id: string): Promise<RunView>;
  /** The command behind each attempt of a run that has one. @throws when its project cannot be described */
  attemptCommands(id: string): Promise<AttemptCommand[]>;
  /** The points of some metrics, each with at most `maximumPoints` (extremes kept); of all metrics where `names` is empty. */
  series(id: string, request: SeriesRequest): Promise<SeriesData>;
  /** How busy the run's devices were while it trained. */
  deviceLoads(id: string): Promise<DeviceLoadColumns[]>;
  /** Lines of the ranks' logs, merged by time, the newest `limit` of them. */
  logs(id: string, request: { ranks: number[]; limit: number }): Promise<LogLine[]>;
  control(id: string, control: z.output<typeof controlSchema>): Promise<void>;
  abort(id: string): Promise<void>;

  checkpoints(id: string): Promise<CheckpointCell[]>;
  /** Notes that checkpoints are to be kept, or no longer. */
  pinCheckpoints(id: string, request: { checkpoints: CheckpointKey[]; isPinned: boolean }): Promise<void>;
  /** Moves checkpoints aside, as `deleteRun` does. @throws for one that the run, as it trains, may be replacing */
  deleteCheckpoints(id: string, request: { checkpoints: CheckpointKey[] }): Promise<{ deletion: string }>;
  /** Evaluates any choice of checkpoints as one ensemble, in a worker. */
  evaluateSet(id: string, request: SetRequest): Promise<SetEvaluationResult>;
  /** What members predicted on a split, as kept under a name (`best`, `epoch-00012`, `final`, ...). */
  predictions(id: string, request: { split: 'validation' | 'test'; name: string }): Promise<PredictionData | null>;
  predictionNames(id: string): Promise<{ split: 'validation' | 'test'; name: string; epoch: number }[]>;
  /** Writes an export below the hub's home and returns where, and in the browser a link to download it. */
  exportRun(id: string, request: ExportRequest): Promise<ExportResult>;

  /** Calls `runUpdates` for this run from now on, until `unwatch` or the end of the connection. */
  watch(id: string): Promise<void>;
  unwatch(id: string): Promise<void>;
}

/** What the hub tells the pages. */
export interface PageApi {
  /** The list of runs has changed. */
  runsChanged(runs: RunRow[]): void;
  /**
   * What happened in a watched run, in order, some ten times a second. A `record` with one more attempt says that the run
   * was resumed: points beyond where it went on from are gone, so `series` is to be asked anew.
   */
  runUpdates(id: string, updates: RunUpdate[]): void;
}

export const folderNameSchema = z.enum(['home', 'runs', 'cache', 'exports']);
export type FolderName = z.output<typeof folderNameSchema>;

export interface Health {
  versions: Record<string, string>;
  folders: { name: FolderName; holds: string; path: string }[];
  /** Whether a file manager can be shown. */
  canOpenFolders: boolean;
  freeBytes: number;
  devices: z.output<typeof deviceSchema>[];
  checks: { name: string; verdict: 'ok' | 'warn' | 'fail'; detail: string; remedy: string | null }[];
  frontEnd: 'desktop' | 'browser';
}

export interface ProjectCard {
  folder: string;
  /** Until it is described: the folder's. */
  name: string;
  description: string;
  task: string;
  /** False before the project's code has been asked what it is. */
  isDescribed: boolean;
  isExample: boolean;
  /** Why it could not be loaded; null where it could, and before it was tried. */
  error: string | null;
  lastRun: { id: string; status: RunRecord['status']; best: BestValue | null; endedAt: string | null } | null;
}

export interface DescribedProject {
  description: ProjectDescription;
  /** Options of every run, then the project's hyperparameters (path `hyperparameters.<name>`). */
  options: OptionDescription[];
  /** The configuration that starts if nothing is changed. */
  defaults: RunConfig;
}

export const runRequestSchema = z.strictObject({
  projectFolder: z.string().min(1),
  /** What differs from the project's defaults, nested as the configuration is. */
  overrides: z.record(z.string(), z.unknown()),
  name: z.string().nullable(),
  /** The run's folder; null: a new one in Tutti's home. */
  out: z.string().min(1).nullable(),
});
export type RunRequest = z.output<typeof runRequestSchema>;

export interface RunPreview {
  /** Null while something is wrong. */
  config: RunConfig | null;
  problems: { path: string | null; message: string }[];
  plan: z.output<typeof placementSchema>[];
  devices: z.output<typeof deviceSchema>[];
  /** What the disk must hold at most; null before the first run of a project, when its size is not known. */
  diskBytes: number | null;
  freeBytes: number;
  /** From the last run of the same project on the same number of devices; null without one. */
  durationSeconds: number | null;
  /** The same run from the terminal. */
  commandLine: string;
}

export const runNotesSchema = z.strictObject({
  name: z.string().min(1).optional(),
  tags: z.array(z.string().min(1)).optional(),
  note: z.string().optional(),
  isArchived: z.boolean().optional(),
});
export type RunNotes = z.output<typeof runNotesSchema>;

export const bestValueSchema = z.strictObject({ metric: z.string(), value: realNumber, epoch: z.int() });
export type BestValue = z.output<typeof bestValueSchema>;

/** A line of the table of runs. */
export const runRowSchema = z.strictObject({
  id: z.string(),
  folder: z.string(),
  name: z.string(),
  project: z.string(),
  task: z.string(),
  strategy: z.string(),
  status: runStatusSchema,
  members: z.int(),
  best: bestValueSchema.nullable(),
  createdAt: z.string(),
  endedAt: z.string().nullable(),
  error: z.string().nullable(),
  /** What of its last metrics is NaN or infinite, in words. */
  notFinite: z.string().nullable(),
  tags: z.array(z.string()),
  note: z.string(),
  isArchived: z.boolean(),
});
export type RunRow = z.output<typeof runRowSchema>;

export interface RankView {
  rank: number;
  device: string;
  deviceName: string;
  wave: number;
  seed: number;
  pid: number | null;
  state: string;
  epoch: number;
  step: number;
  loss: number | null;
  samplesPerSecond: number | null;
  memoryBytes: number | null;
}

export interface RunView {
  record: RunRecord;
  folder: string;
  row: RunRow;
  /** Whether a process of this machine trains it, so that it can be controlled from here. */
  isInReach: boolean;
  totalSteps: number | null;
  ensembleMonitor: string | null;
  ranks: RankView[];
  metrics: string[];
  events: RunEvent[];
  /** What of its folder could not be read, though the rest can. */
  warnings: string[];
  evaluatedSets: EvaluatedSet[];
  /** Names of the files in `plots/`, SVG as text. */
  plots: { name: string; svg: string }[];
}

export interface AttemptCommand {
  attempt: number;
  /** For a terminal. */
  command: string;
}

export const seriesRequestSchema = z.strictObject({
  names: z.array(z.string()),
  maximumPoints: z.int().min(100),
  fromStep: z.int().nullable(),
  toStep: z.int().nullable(),
});
export type SeriesRequest = z.output<typeof seriesRequestSchema>;

/** Columns of one metric, by ascending step. */
export interface SeriesColumns {
  name: string;
  epoch: Int32Array;
  step: Int32Array;
  value: Float64Array;
  /** Points there are; more than the columns hold where they were thinned. */
  total: number;
}
export interface SeriesData {
  series: SeriesColumns[];
}

export interface LogLine {
  time: string;
  rank: number;
  text: string;
}

export interface CheckpointCell {
  record: CheckpointRecord;
  isPinned: boolean;
  isEnsembleBest: boolean;
  isMemberBest: boolean;
}

/** A checkpoint of a run. The name becomes part of a path. */
export const checkpointKeySchema = z.strictObject({ rank: z.int().min(0), name: z.string().regex(/^[\w-]+$/) });
export type CheckpointKey = z.output<typeof checkpointKeySchema>;

export const exportRequestSchema = z.strictObject({
  /** Names as `tutti export --format` takes them; none means all but `tfjs`. */
  formats: z.array(z.string()),
  /** Which checkpoints come along; null for all. */
  checkpoints: z.array(checkpointKeySchema).min(1).nullable(),
});
export type ExportRequest = z.output<typeof exportRequestSchema>;

export interface ExportResult {
  path: string;
  link: string | null;
  bytes: number;
  /** What of it may not be as it was when the run trained. */
  warnings: string[];
}

export const setRequestSchema = z.strictObject({
  members: z.array(checkpointKeySchema).min(1),
  split: z.enum(['validation', 'test']),
});
export type SetRequest = z.output<typeof setRequestSchema>;

export interface SetEvaluationResult {
  split: 'validation' | 'test';
  ensemble: Record<string, number>;
  members: Record<string, number[]>;
  /** What may not be as it was when the run trained: its project's source has changed, say. */
  warnings: string[];
}

/** Predictions of M members for N samples, W values each; one array `[M, N, W]` per output of the task. */
export interface PredictionData {
  task: string;
  /** What the outputs are: logits of classifiers, or probabilities where an earlier version kept them; means and variances otherwise. */
  kind: 'logits' | 'probabilities' | 'values';
  ranks: number[];
  epoch: number;
  samples: number;
  width: number;
  outputs: Float32Array[];
  /** Class labels or values, `[N]` (or `[N, T]`). */
  targets: Float32Array | Int32Array;
  /** The only feature of each sample where there is just one (to draw regression over it), else null. */
  feature: Float32Array | null;
  classNames: string[] | null;
}

export type { PointBatch };

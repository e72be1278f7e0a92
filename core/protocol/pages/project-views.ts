import { z } from 'zod';
import type { OptionDescription } from '../../options/index.ts';
import type { deviceSchema, placementSchema } from '../machine/devices.ts';
import type { RunConfig } from '../run/config.ts';
import type { ProjectDescription } from '../run/project-description.ts';
import type { RunRecord } from '../run/record.ts';
import { mostRepetitions } from '../run/sweep/sweep.ts';
import type { BestValue } from './run-list.ts';

export interface ProjectCard {
  folder: string;
  /** The folder's name until the project is described. */
  name: string;
  description: string;
  task: string;
  /** False until the project's code has described itself. */
  isDescribed: boolean;
  isExample: boolean;
  /** Whether the user trusts its folder. If not, nothing of it was run. */
  isTrusted: boolean;
  /** What the user should know before trusting it, such as another owner; null if nothing. */
  warning: string | null;
  /** What it asks for and the user has not allowed yet: `reads /data`. Empty until it is described. */
  asks: string[];
  /** Why the project could not be loaded; null if it could, or was not loaded yet. */
  error: string | null;
  /** Whether the user opened it. Others in the list, except the examples, were trained from a terminal. */
  isOpened: boolean;
  /** Whether its folder, or the project in it, no longer exists. Its runs do. */
  isGone: boolean;
  lastRun: LastRun | null;
}

/** The newest run of a project. */
export interface LastRun {
  id: string;
  status: RunRecord['status'];
  /** Which of its metrics are not finite, in words; null if all are finite. */
  notFinite: string | null;
  best: BestValue | null;
  /** When its last attempt began. */
  startedAt: string;
  endedAt: string | null;
}

/** A picture of a project, to be shown as an image. */
export interface ProjectPicture {
  /** The name of its file. */
  name: string;
  type: 'image/png' | 'image/svg+xml';
  bytes: Uint8Array;
  /** The name of the run that drew it; null for a file of the project. */
  run: string | null;
}

/** A folder whose projects may run, and all folders below it. */
export interface TrustedFolder {
  folder: string;
  since: string;
  /** What projects in it were allowed in addition, each as `<project>: reads /data`. */
  allowed: string[];
}

export interface DescribedProject {
  description: ProjectDescription;
  /** Options of every run, then the project's hyperparameters (path `hyperparameters.<name>`). */
  options: OptionDescription[];
  /** The configuration of a run without overrides. */
  defaults: RunConfig;
}

/** A request to start or to preview a run. */
export const runRequestSchema = z.strictObject({
  projectFolder: z.string().min(1),
  /** Changes to the project's defaults, nested as in the configuration. */
  overrides: z.record(z.string(), z.unknown()),
  name: z.string().nullable(),
  /** The run's folder; null: a new one in Tutti's home. */
  out: z.string().min(1).nullable(),
  /** Whether the run continues when Tutti ends. A separate process then trains it. */
  detach: z.boolean().optional(),
  /** Number of runs that differ in their seeds; absent: one run. */
  repeat: z.int().min(2).max(mostRepetitions).optional(),
});
export type RunRequest = z.output<typeof runRequestSchema>;

/** What was started. */
export interface StartedRun {
  /** The id of the run. */
  id: string;
  /** The id of the sweep that it belongs to; null for a single run. */
  sweep: string | null;
}

export interface RunPreview {
  /** Null if there is a problem. */
  config: RunConfig | null;
  problems: { path: string | null; message: string }[];
  plan: z.output<typeof placementSchema>[];
  /** How many members a worker trains, and why, as a sentence; null where the configuration says so. */
  workers: string | null;
  devices: z.output<typeof deviceSchema>[];
  /** Maximum disk space of the run; null before the first run of a project, when the size of its model is unknown. */
  diskBytes: number | null;
  freeBytes: number;
  /** Duration of the last finished run of the project on as many devices; null without one. */
  durationSeconds: number | null;
  /**
   * The least memory of each rank, in bytes; null before the first run of a project, and for a pipeline, whose ranks
   * hold parts of the model.
   */
  leastRankBytes: number | null;
  /** What a BLAS would gain, as sentences; null where one is found, nothing is gained, or the model is unknown. */
  blasAdvice: string | null;
  /** What its processes may do, as phrases; empty if the project is not trusted. */
  grants: string[];
  /**
   * Whether the project's code has changed since the run that is forked or resumed. Training then uses the code that
   * the run kept, unless asked otherwise.
   */
  hasChangedCode?: boolean;
  /** The command that starts the same run from the terminal. */
  commandLine: string;
}

/** What a path led to. */
export type Opened =
  | { kind: 'project'; project: ProjectCard }
  /** `isImported`: whether it came from an export just now. */
  | { kind: 'run'; id: string; isImported: boolean }
  /** Data from which a project can be made: a folder of images, or a packed table. `path` is absolute. */
  | { kind: 'data'; path: string };

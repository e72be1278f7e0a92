import { z } from 'zod';
import type { EvaluatedSet, RunEvent, RunRecord } from '../run/record.ts';
import type { RunRow } from './run-list.ts';
import type { ForkPoint } from '../history/history.ts';
import type { RunConfig } from '../run/config.ts';
import { runRequestSchema } from './project-views.ts';

/** Changes to the user's notes on a run. */
export const runNotesSchema = z.strictObject({
  name: z.string().min(1).optional(),
  tags: z.array(z.string().min(1)).optional(),
  note: z.string().optional(),
  isArchived: z.boolean().optional(),
});
export type RunNotes = z.output<typeof runNotesSchema>;

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
  /** Whether a process of this machine trains the run, so that it can be controlled from here. */
  isInReach: boolean;
  /** Whether the process that serves this page keeps the copy of a run on another machine. */
  isFollowedHere: boolean;
  /** Whether a rank has saved a state, so that the run can be resumed. */
  holdsState: boolean;
  totalSteps: number | null;
  ensembleMonitor: string | null;
  ranks: RankView[];
  metrics: string[];
  events: RunEvent[];
  /** Damaged parts of its folder that were skipped. */
  warnings: string[];
  evaluatedSets: EvaluatedSet[];
  /** The SVG files in `plots/`, as text. */
  plots: { name: string; svg: string }[];
}

export interface AttemptCommand {
  attempt: number;
  /** The command for a terminal. */
  command: string;
}

export interface LogLine {
  time: string;
  rank: number;
  text: string;
}

/** `round-40`, `ensemble-best`, `attempt-1/final`. */
export const forkPointNameSchema = z
  .string()
  .max(300)
  .regex(/^(attempt-\d+\/)?[\w-]+$/);

/** A request to fork a run, or to preview a fork. */
export const forkRequestSchema = runRequestSchema.omit({ projectFolder: true }).extend({
  /** The name of the point at which it begins. */
  point: forkPointNameSchema,
  /** Whether it trains with the project's present code, although that has changed. */
  currentSource: z.boolean().optional(),
});
export type ForkRequest = z.output<typeof forkRequestSchema>;

/** What a fork of a point begins with. */
export interface ForkStart {
  point: ForkPoint;
  /** The name of the run that is forked. */
  name: string;
  project: { name: string; folder: string };
  /** The configuration at the point, with what was changed while the run trained. A fork's changes are on top of it. */
  config: RunConfig;
}

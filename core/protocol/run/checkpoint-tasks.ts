import { z } from 'zod';
import type { PredictionColumn } from '../../ensemble/columns.ts';
import { ensembleSchema } from '../../ensemble/schema.ts';
import type { Postprocessing } from '../../postprocessing/schema.ts';
import { postprocessingRequestSchema } from '../../postprocessing/request.ts';
import { blasSchema } from '../machine/devices.ts';
import { type InputPart, inputsRequestSchema, type SampleInputs } from '../../ensemble/sample-inputs.ts';
import { formulaGuards } from '../../text/printable.ts';
import { runConfigSchema } from './config.ts';
import { type PartCriterion, partMethods } from './parts.ts';
import type { EvaluatedSet } from './record.ts';

/** Names a checkpoint of a run. The name becomes part of a path. */
export const checkpointKeySchema = z.strictObject({ rank: z.int().min(0), name: z.string().regex(/^[\w-]+$/) });
export type CheckpointKey = z.output<typeof checkpointKeySchema>;

/** A request to evaluate checkpoints as one ensemble. */
export const setRequestSchema = z.strictObject({
  members: z.array(checkpointKeySchema).min(1),
  split: z.enum(['validation', 'test']),
});
export type SetRequest = z.output<typeof setRequestSchema>;

export interface SetEvaluationResult {
  split: 'validation' | 'test';
  ensemble: Record<string, number>;
  members: Record<string, number[]>;
  /** Possible differences from the time when the run trained, for instance a changed source of its project. */
  warnings: string[];
}

/** What a process needs to rebuild a run's model and to find its checkpoints. */
export const runSourceSchema = z.strictObject({
  runFolder: z.string(),
  projectFolder: z.string(),
  /** Why the project's code must not run, for the user; null if it may. */
  projectRefusal: z.string().nullable(),
  task: z.string(),
  /** A sentence for the user on how the project's source differs from that of the run; null if it is the same. */
  sourceChange: z.string().nullable(),
  /** The run's copy of the project's scripts, which is loaded instead of them; null: they are loaded as they are. */
  sourceFolder: z.string().nullable(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
});
export type RunSource = z.output<typeof runSourceSchema>;

/** The task of the process that evaluates checkpoints (`workers/entries/evaluate.ts`). */
export const setEvaluationTaskSchema = runSourceSchema.extend({
  ...setRequestSchema.shape,
  blas: blasSchema.nullable(),
});
export type SetEvaluationTask = z.output<typeof setEvaluationTaskSchema>;

export type SetEvaluationReply =
  { type: 'evaluated'; result: SetEvaluationResult } | { type: 'failed'; message: string; stack: string };

/** A request to fit calibration, conformal sets and thresholds for a set of checkpoints. */
export const calibrationRequestSchema = z.strictObject({
  set: z.enum(['ensemble-best', 'member-best', 'final']),
  /** The split to fit on; the other one is measured. */
  split: z.enum(['validation', 'test']),
  request: postprocessingRequestSchema,
  /** Whether detection is also measured on corrupted images of the measured split. */
  corruptions: z.boolean(),
});
export type CalibrationRequest = z.output<typeof calibrationRequestSchema>;

/** What was fitted. */
export interface CalibrationResult {
  postprocessing: Postprocessing;
  /** Possible differences from the time when the run trained. */
  warnings: string[];
}

/** The task of the process that fits them (`workers/entries/calibrate.ts`). */
export const calibrationTaskSchema = runSourceSchema.extend({
  ...calibrationRequestSchema.shape,
  /** Ranks of the set's members, ascending. */
  ranks: z.array(z.int().min(0)).min(1),
  /** The folder for `postprocessing/`, where it writes what distances are measured from: the run's. */
  into: z.string(),
  blas: blasSchema.nullable(),
});
export type CalibrationTask = z.output<typeof calibrationTaskSchema>;

export type CalibrationReply =
  ({ type: 'calibrated' } & CalibrationResult) | { type: 'failed'; message: string; stack: string };

/** The task of the process that writes checkpoints as layers models (`workers/entries/write-layers.ts`). */
export const layersTaskSchema = runSourceSchema.extend({
  members: z.array(checkpointKeySchema).min(1),
  /** An empty folder for `rank-<r>/<name>/model.json` and `weights.bin`. */
  into: z.string(),
});
export type LayersTask = z.output<typeof layersTaskSchema>;

/** Formats that hold a whole ensemble for programs without Tutti. */
export const ensembleFormats = ['onnx', 'pytorch'] as const;
export type EnsembleFormat = (typeof ensembleFormats)[number];

/** The task of the process that writes an ensemble for other programs (`workers/entries/write-ensemble.ts`). */
export const ensembleTaskSchema = runSourceSchema.extend({
  format: z.enum(ensembleFormats),
  ensemble: ensembleSchema,
  /** The version of Tutti. */
  version: z.string(),
  /** An empty folder for the files. */
  into: z.string(),
});
export type EnsembleTask = z.output<typeof ensembleTaskSchema>;

/** `paths` are those of the files, below the task's folder. */
export type EnsembleReply =
  { type: 'written'; paths: string[]; warnings: string[] } | { type: 'failed'; message: string; stack: string };

export type LayersReply = { type: 'written'; warnings: string[] } | { type: 'failed'; message: string; stack: string };

/**
 * What a process needs to open an ensemble. The task of the process that answers a server's requests
 * (`workers/entries/serve.ts`).
 */
export const ensembleSourceSchema = z.strictObject({
  /** A run's folder, or one with `ensemble.json`. */
  folder: z.string(),
  /** The checkpoints' name; null: the usual ones. */
  set: z.string().nullable(),
  /** The run and its project; null for an exported ensemble. */
  source: runSourceSchema.nullable(),
  blas: blasSchema.nullable(),
});
export type EnsembleSource = z.output<typeof ensembleSourceSchema>;

/** A task of the process that predicts (`workers/entries/predict.ts`). */
export const predictTaskSchema = ensembleSourceSchema.extend({
  type: z.literal('predict'),
  input: z.string(),
  output: z.string(),
  format: z.enum(['csv', 'jsonl', 'parquet']),
  /** Which texts of a CSV file get an apostrophe where a spreadsheet would take them for a formula. */
  formulaGuard: z.enum(formulaGuards),
  withMembers: z.boolean(),
  withScores: z.boolean(),
  /** How many of the first rows the reply has; at most those of one block. */
  firstRows: z.int().min(0),
  /** Whether samples that do not fit the training data are refused. */
  isStrict: z.boolean(),
});
export type PredictTask = z.output<typeof predictTaskSchema>;

export type PredictReply =
  | { type: 'progress'; rows: number }
  | {
      type: 'predicted';
      rows: number;
      set: string;
      warnings: string[];
      first: PredictionColumn[];
      /** The thresholds that were fitted, beside which scores stand. */
      outside: Postprocessing['outside'];
      /** The inputs of the samples in these first rows. */
      inputs: InputPart[][];
    }
  | { type: 'failed'; message: string; stack: string };

/** Another task of that process: to read inputs of the run's own samples, with the project's code. */
export const inputsTaskSchema = inputsRequestSchema.extend({
  type: z.literal('inputs'),
  source: runSourceSchema,
  blas: blasSchema.nullable(),
});
export type InputsTask = z.output<typeof inputsTaskSchema>;

export type InputsReply = ({ type: 'read' } & SampleInputs) | { type: 'failed'; message: string; stack: string };

/** The task of the process that makes an ensemble from checkpoints (`workers/entries/combine.ts`). */
export const combineTaskSchema = z.strictObject({
  /** The runs that the checkpoints come from. The project of the first one gives the data. */
  runs: z.array(runSourceSchema.extend({ id: z.string() })).min(1),
  /** Checkpoints to choose from; `run` is a position in `runs`. */
  candidates: z.array(checkpointKeySchema.extend({ run: z.int().min(0) })).min(1),
  method: z.enum(partMethods),
  /** Most choices of the greedy selection. */
  rounds: z.int().min(1),
  /** The tolerance of the smallest subset, in the unit of the criterion. */
  tolerance: z.number().min(0),
  /** Members to draw with SWAG for each trajectory, or with MC dropout for each candidate. */
  samples: z.int().min(1),
  /** Most deviations that SWAG keeps of a trajectory, K. */
  deviations: z.int().min(2),
  /** Name of the members' checkpoints. */
  set: z.literal('ensemble-best'),
  /** The new run's folder, for checkpoints, architectures and predictions. */
  into: z.string(),
  blas: blasSchema.nullable(),
});
export type CombineTask = z.output<typeof combineTaskSchema>;

export interface Combined {
  /**
   * The positions of each member's candidates: one, or those whose mean it is or around whose mean it was drawn.
   */
  members: number[][];
  /** Epoch and steps of each candidate. */
  positions: { epoch: number; step: number }[];
  /** The criterion by which members are chosen and compared. */
  criterion: PartCriterion;
  /**
   * The candidates that were added, with the loss on the validation split after each; empty where nothing was selected.
   */
  path: { candidate: number; loss: number }[];
  /** The loss on the validation split of each candidate, of the ensemble of all, and of the new one. */
  losses: { candidates: number[]; all: number; chosen: number };
  /** Metrics on the validation split, such as `val/ens_nll`. */
  validation: Record<string, number>;
  /** The metric that training would monitor. */
  monitor: string;
  evaluated: EvaluatedSet;
  warnings: string[];
}

export type CombineReply =
  { type: 'combined'; combined: Combined } | { type: 'failed'; message: string; stack: string };

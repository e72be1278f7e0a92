import type { z } from 'zod';
import type { RunConfig, RunConfigInput } from '../../core/protocol/run/config.ts';
import type { EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { ProjectCallback } from '../callbacks/project-callback.ts';
import type { DataFolders, Splits } from '../data/index.ts';
import type { Figure } from '../plots/index.ts';
import type { LayersModel, Scalar, Tensor } from '../tensorflow/tf.ts';
import type { TaskKind } from '../member/tasks.ts';
import type { MemberOutputs } from '../member/predict.ts';

/** A schema of plain values with defaults: the project's own hyperparameters. */
export type HyperparameterSchema = z.ZodObject;

export interface ProjectContext<H> {
  hyperparameters: H;
  config: RunConfig;
}

export interface DataContext<H> extends ProjectContext<H> {
  /** Where data sets are looked for, downloaded to and cached. */
  folders: DataFolders;
  /** The base seed: the same for all ranks, so that splits agree. */
  seed: number;
}

export interface ModelContext<H> extends ProjectContext<H> {
  /** Shape of one sample. */
  featureShape: readonly number[];
  /** K for classification, the number of target columns otherwise. */
  targetSize: number;
  rank: number;
}

export interface LossContext<H> extends ProjectContext<H> {
  /** The model's outputs for the batch, `[B, ...]` each. */
  outputs: Tensor[];
  /** Class labels int32 `[B]`, or values float32 `[B]` / `[B, T]`. */
  targets: Tensor;
  epoch: number;
  step: number;
  /** Share of the planned steps that are done, in [0, 1). */
  progress: number;
}

export interface CallbackContext<H> extends ProjectContext<H> {
  rank: number;
}

export interface FigureContext<H> extends ProjectContext<H> {
  data: Splits;
  /** Evaluations so far by metric name, e.g. `val/ens_nll`; `epochs[i]` and `steps[i]` belong to `values[i]`. */
  history: ReadonlyMap<string, { epochs: number[]; steps: number[]; values: number[] }>;
  /** Checkpoint sets as they did on the test split (or on validation, where there is no test split). */
  evaluatedSets: readonly EvaluatedSet[];
  /** Predictions of all members with their last weights on the test (or else validation) split: probabilities, or means and variances. */
  predictions: MemberOutputs;
  save: (name: string, figure: Figure) => Promise<void>;
  /** Prints a line to the user and to the run's log. */
  print: (line: string) => void;
}

export interface Project<S extends HyperparameterSchema = HyperparameterSchema> {
  name: string;
  description: string;
  hyperparameters: S;
  /**
   * What the model learns. It decides the loss, what predictions are and which metrics are computed:
   * `classification` (logits `[B, K]`), `binary` (logits `[B, 1]`), `regression` (`[B, T]`), `heteroscedastic-regression`
   * (two outputs `[B, 1]`: mean and variance, the variance positive).
   */
  task: TaskKind;
  /** What this project prefers to the general defaults of the run configuration. */
  defaults?: RunConfigInput;
  /** Called once per machine; the ranks share what it returns. */
  data(context: DataContext<z.output<S>>): Splits | Promise<Splits>;
  /** Called once per rank, with that rank's seed in place. */
  model(context: ModelContext<z.output<S>>): LayersModel;
  /** Instead of the task's own loss: a scalar to minimise. */
  loss?(context: LossContext<z.output<S>>): Scalar;
  /** Observers of a rank's training, which may log metrics. Called once per rank. */
  callbacks?(context: CallbackContext<z.output<S>>): ProjectCallback[];
  /** Draws the project's figures into the run folder once training is over (called on the first rank). */
  figures?(context: FigureContext<z.output<S>>): Promise<void>;
}

/** Declares a project: the default export of its `project.ts`. It returns its argument, typed. */
export function defineProject<S extends HyperparameterSchema>(project: Project<S>): Project<S> {
  return project;
}

import type { z } from 'zod';
import type { RunConfig, RunConfigInput } from '../../core/protocol/run/config.ts';
import type { PermissionsInput } from '../../core/protocol/run/permissions.ts';
import type { SearchSpace } from '../../core/studies/space/schema.ts';
import type { EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { ProjectCallback } from '../callbacks/project-callback.ts';
import type { CategoryFeatures, DataFolders, Fold, Splits, Table } from '../data/index.ts';
import type { EnsembleInput } from '../inference/inputs.ts';
import type { Figure } from '../plots/index.ts';
import type { LayersModel, Scalar, Tensor } from '../tensorflow/tf.ts';
import type { LossInputs } from '../member/batch-tensors.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import type { OutputSpec } from '../member/tasks/further-outputs.ts';
import type { ProjectMetric } from '../member/tasks/own-metrics.ts';
import type { MemberOutputs } from '../member/predictions.ts';

/** A schema of plain values with defaults: the project's own hyperparameters. */
export type HyperparameterSchema = z.ZodObject;

/** What every function of a project receives. */
export interface ProjectContext<H> {
  /** The project's hyperparameters, parsed. */
  hyperparameters: H;
  /** The whole configuration of the run. */
  config: RunConfig;
}

/** What `data` receives. */
export interface DataContext<H> extends ProjectContext<H> {
  /** Folders of data sets and of the download cache. */
  folders: DataFolders;
  /** The base seed: the same for all ranks, so that splits agree. */
  seed: number;
  /**
   * The test fold that the options `data.folds` and `data.fold` ask for; undefined: none. Give it to the function that
   * splits.
   */
  fold?: Fold | undefined;
}

/** What `model` receives. */
export interface ModelContext<H> extends ProjectContext<H> {
  /** Shape of one sample. */
  featureShape: readonly number[];
  /** Where the features of columns of categories lie: see `embedCategories`. */
  categories: readonly CategoryFeatures[];
  /** Shapes of a sample's further inputs, by name. */
  extraInputShapes: Readonly<Record<string, readonly number[]>>;
  /** K for classification, the number of target columns otherwise. */
  targetSize: number;
  /**
   * Shape of one sample's targets: `[]` for a single one, `[steps]` for a sequence of classes, `[steps, columns]` of
   * values.
   */
  targetShape: readonly number[];
  /** The rank that trains the model. */
  rank: number;
}

/** What `loss` receives. */
export interface LossContext<H> extends ProjectContext<H>, LossInputs {
  /** The model's outputs for the batch, `[B, ...]` each. */
  outputs: Tensor[];
  /** Class labels int32 `[B]`, or values float32 `[B]` / `[B, T]`; `[B, ...targetShape]` where the data have that. */
  targets: Tensor;
  /** The rank that trains. */
  rank: number;
  /** Zero-based epoch. */
  epoch: number;
  /** Steps done. */
  step: number;
  /**
   * Share of the planned steps that are done, in [0, 1]. It reaches 1 only where `scheduleEpochs` plans fewer epochs
   * than train.
   */
  progress: number;
}

/** What `callbacks` receives. */
export interface CallbackContext<H> extends ProjectContext<H> {
  /** The rank that the callbacks observe. */
  rank: number;
}

/** What `figures` receives. */
export interface FigureContext<H> extends ProjectContext<H> {
  /** What `data` returned. */
  data: Splits;
  /** Evaluations so far by metric name, e.g. `val/ens_nll`; `epochs[i]` and `steps[i]` belong to `values[i]`. */
  history: ReadonlyMap<string, { epochs: number[]; steps: number[]; values: number[] }>;
  /** Metrics of each set of checkpoints on the test split (on the validation split if there is no test split). */
  evaluatedSets: readonly EvaluatedSet[];
  /** Predictions of all members with their last weights on the same split: probabilities, or means and variances. */
  predictions: MemberOutputs;
  /** Writes `plots/<name>.svg` and `plots/<name>.png` in the run's folder. */
  save: (name: string, figure: Figure) => Promise<void>;
  /** Prints a line to the user and to the run's log. */
  print: (line: string) => void;
}

/** What `inputs` receives. */
export interface InputsContext<H> extends ProjectContext<H> {
  /** Some rows of the new data, in their order. A text file has one column, `text`. */
  table: Table;
  /** Folders of data sets and of the download cache. */
  folders: DataFolders;
  /** The base seed. */
  seed: number;
}

/** A project: data, model and task. */
export interface Project<S extends HyperparameterSchema = HyperparameterSchema> {
  /** Name in lists of runs. */
  name: string;
  /** One or two sentences for readers. */
  description: string;
  /** Schema of the project's hyperparameters: `z.object({...})` of plain values with defaults. */
  hyperparameters: S;
  /**
   * The task, which determines the loss, the meaning of the outputs and the metrics: `classification` (logits
   * `[B, K]`), `binary` (logits `[B, 1]`), `regression` (`[B, T]`), `heteroscedastic-regression` (two outputs `[B, T]`:
   * mean and variance, the variance positive), `multi-label` (a logit for each label, `[B, L]`), `poisson-regression`
   * (logarithms of rates, `[B, T]`), `ordinal` (ordered classes: logits of P(y > k given y ≥ k), `[B, K - 1]`),
   * `quantile-regression` (a value for each of the project's `quantiles`, `[B, Q]`).
   */
  task: TaskKind;
  /**
   * What further outputs of the model learn, by name: the data's `extraTargets` of the same name. The model's own
   * outputs come first, then these in their order, each from a layer of its name. Their losses are added, and their
   * metrics are named `val/<output>/ens_nll`.
   */
  outputs?: Record<string, OutputSpec>;
  /** Levels of the task `quantile-regression`, in (0, 1), ascending; [0.05, 0.5, 0.95] by default. */
  quantiles?: readonly number[];
  /** Options that override the general defaults of the run configuration. */
  defaults?: RunConfigInput;
  /**
   * What `tutti search` tries: a range or choices for each hyperparameter, by name, or option of every run, by path,
   * such as `{ 'optimizer.learningRate': { kind: 'log', low: 1e-4, high: 0.1 } }`.
   */
  search?: SearchSpace;
  /** What it needs beyond what every project gets. The user is asked once. */
  permissions?: PermissionsInput;
  /** Loads the data. Called once per machine; the ranks share the result. */
  data(context: DataContext<z.output<S>>): Splits | Promise<Splits>;
  /** Builds the model. Called once per rank, with that rank's seed in place. */
  model(context: ModelContext<z.output<S>>): LayersModel;
  /** Computes a scalar to minimise, instead of the task's loss. */
  loss?(context: LossContext<z.output<S>>): Scalar;
  /**
   * Turns rows of new data into inputs of the model, for `tutti predict` and `tutti serve`, where `data` reads its
   * files itself. Tables that `tableSplits` split, series of `seriesOf` that `windowSplits` split and images of
   * `imageFolder` need none: the run keeps how they became features.
   */
  inputs?(context: InputsContext<z.output<S>>): EnsembleInput | Promise<EnsembleInput>;
  /** Metrics beside those of the task, by name; every evaluation computes them, and they can be monitored. */
  metrics?: Record<string, ProjectMetric>;
  /** Returns observers of a rank's training, which may log metrics. Called once per rank. */
  callbacks?(context: CallbackContext<z.output<S>>): ProjectCallback[];
  /** Draws the project's figures into the run's folder after training. Called on the first rank. */
  figures?(context: FigureContext<z.output<S>>): Promise<void>;
}

/**
 * Declares a project, the default export of `project.ts`. It returns its argument and infers the types of
 * hyperparameters.
 */
export function defineProject<S extends HyperparameterSchema>(project: Project<S>): Project<S> {
  return project;
}

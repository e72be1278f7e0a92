/**
 * The library `tutti-ensembles`, which a project imports. It also exports everything of the modules Data sets, Metrics
 * and Figures.
 *
 * @module Projects and callbacks
 */

export { z } from 'zod';
export { tf } from './tensorflow/tf.ts';
export { embedCategories } from './data/tables/embed-categories.ts';
export { batchEnsemble, type BatchEnsembleLayers, mimo, type MimoLayers } from './tensorflow/layers/inner/index.ts';
export type { LayersModel, Scalar, SymbolicTensor, Tensor, Variable } from './tensorflow/tf.ts';

export {
  defineProject,
  type CallbackContext,
  type DataContext,
  type FigureContext,
  type InputsContext,
  type LossContext,
  type ModelContext,
  type Project,
} from './project/define-project.ts';
export { ensemblePredict, gatherEnsembleMetrics, loadEnsemble } from './session/functional.ts';
export { openEnsemble, type OpenEnsembleOptions } from './inference/open-ensemble.ts';
export type { Ensemble } from './inference/ensemble.ts';
export type { EnsembleInput, Row } from './inference/inputs.ts';
export type { ColumnWarning } from '../core/ensemble/serving.ts';
export type {
  ClassPredictions,
  EnsemblePredictions,
  LabelPredictions,
  QuantilePredictions,
  ValuePredictions,
} from '../core/ensemble/predictions.ts';
export type { EnsembleDescription, EnsembleMember } from '../core/ensemble/schema.ts';
export { setupIndependentWorker, type IndependentWorker } from './session/preparation/setup.ts';
export { ProcessGroup } from './collectives/process-group.ts';

export type { Callback, Evaluation, StepEnd, Training } from './callbacks/callback.ts';
export type { MetricContext, ProjectMetric } from './member/tasks/own-metrics.ts';
export type { ObservedEvaluation, ObservedTraining, ProjectCallback } from './callbacks/project-callback.ts';
export { DistributedSeeder } from './callbacks/distributed-seeder.ts';
export { EarlyStopping } from './callbacks/early-stopping.ts';
export { EnsembleMetrics, RegressionEnsembleMetrics } from './callbacks/ensemble-metrics.ts';
export { KeepPredictions } from './callbacks/keep-predictions.ts';
export { PerRankBestCheckpoint, PerRankCheckpoint } from './callbacks/per-rank-checkpoint.ts';

export { crossEntropyLoss, gaussianNllLoss } from './member/tasks.ts';
export type { LossInputs } from './member/batch-tensors.ts';
export type { MemberOutputs } from './member/predictions.ts';

export * from './data/index.ts';
export * from '../core/metrics/index.ts';
export { selectGreedily, smallestSubset, type Selection } from '../core/postprocessing/selection.ts';
export * from './plots/index.ts';
export { Generator } from './random/index.ts';

import type { Combination } from '../../../core/metrics/combination.ts';
import type { LabelScores, MetricOptions } from '../../../core/metrics/index.ts';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import type { Dataset } from '../../data/dataset.ts';
import type { LayersModel, Tensor } from '../../tensorflow/tf.ts';
import type { MemberOutputs, Predictions } from '../predictions.ts';
import type { Softening } from '../sample-losses.ts';

export type MetricsOf = (stack: MemberOutputs, dataset: Dataset, options?: MetricOptions) => Map<string, number>;

/**
 * What a model learns. Sizes: `B` batch, `N` samples, `M` members, `K` classes, `T` targets per sample. Where a sample
 * has several positions (`atPositions`), each counts as a sample, except for weights.
 */
export interface Task {
  readonly kind: TaskKind;
  /** Number of axes between samples and outputs `[B, ...P, W]`: 1 for a sequence; absent: none. */
  readonly positionAxes?: number;
  /**
   * Outputs of the model after those of this task, each with another task; `loss` and `predictionsOf` leave them out.
   */
  readonly further?: readonly FurtherOutput[];
  /** Number of predicted values per sample: K or T. */
  targetSize(dataset: Dataset): number;
  /** @throws when the model's outputs do not fit the data's targets */
  check(model: LayersModel, dataset: Dataset): void;
  /**
   * Mean loss of a batch, to minimise. For stacked members (outputs `[M, B, ...]`, targets `[M, B]` or `[M, B, T]`) one
   * loss for each member, `[M]`.
   * @param softening only the tasks with classes use it
   */
  loss(outputs: Tensor[], targets: Tensor, softening?: Softening): Tensor;
  /**
   * The losses that `loss` averages, `[..., B, ...P]` or `[..., B, ...P, T]`, for data with weights or masks; absent
   * where a task cannot use these.
   */
  losses?(outputs: Tensor[], targets: Tensor, softening: Softening): Tensor;
  /** The kind of the members' outputs, `[B, ...P, W]` each: logits, or values (means and variances). */
  readonly predicts: Predictions['kind'];
  /** What the run keeps of the model's outputs, `[B, ...P, W]` each; absent: the outputs. */
  predictionsOf?(outputs: Tensor[]): Tensor[];
  /** Ensemble and member metrics of gathered predictions, named without their split. */
  readonly metrics: MetricsOf;
  /** The ensemble's scores of each label, where samples may have several; by default of the mean of its members. */
  labelScores?(stack: MemberOutputs, dataset: Dataset, combination?: Combination): LabelScores[];
  /** The ensemble's main metric, which `auto` monitors. */
  readonly ensembleMonitor: string;
  readonly memberMonitor: string;
}

/** A further output of a model, beside those of the project's task. */
export interface FurtherOutput {
  readonly name: string;
  readonly task: Task;
  /** Factor of its loss. */
  readonly weight: number;
  /** Its outputs among the model's. */
  readonly outputsOf: (outputs: Tensor[]) => Tensor[];
  /** Its targets among a batch's further ones, `[..., B, ...]`. */
  readonly targetsOf: (extraTargets: Readonly<Record<string, Tensor>>) => Tensor;
  /** A split with its targets. */
  readonly datasetOf: (dataset: Dataset) => Dataset;
}

import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Batch, Dataset } from '../data/dataset.ts';
import type { Member, StepPosition } from '../member/member.ts';
import type { UpdateSettings } from '../optimizers/optimizers.ts';
import type { SlotFiles } from '../optimizers/slots/slot-storage.ts';
import type { Position } from '../member/report.ts';
import type { Predictions } from '../member/predictions.ts';
import type { MetricsOf, Task } from '../member/tasks.ts';
import type { Tensor } from '../tensorflow/tf.ts';
import type { ModelStage } from './pipeline/stage-passes.ts';
import { answerSubject } from '../../core/metrics/combination.ts';
import { combinationOf } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { metricNamed } from '../../core/metrics/registry/index.ts';
import { type MetricRequests, metricsOfRun, requestedMetrics } from '../../core/metrics/registry/monitors.ts';
import { describeMetrics, type ProjectMetric, withOwnMetrics } from '../member/tasks/own-metrics.ts';
import { withHeldOut } from '../member/tasks/held-out-metrics.ts';

/** The run's settings for a strategy, besides its options. */
export interface StrategyContext {
  config: RunConfig;
  task: Task;
  /** The most steps that each rank does. */
  totalSteps: number;
  /** A folder on a disk for files that last as long as the attempt; absent: the system's folder for such files. */
  folder?: string | undefined;
  /** The project's unlabelled samples, if it has any. */
  unlabelled?: Dataset | undefined;
  /** This rank's part of the model, where its layers are spread over the ranks. */
  stage?: ModelStage | undefined;
}

/** A model whose layers are spread over the ranks, as one. Every rank calls each method at the same time. */
export interface SpreadModel {
  /** Predictions of the whole model for a split, in the order of the data, on every rank. */
  predict(dataset: Dataset): Promise<Predictions>;
  /** All weights by name, on the first rank. */
  readWeights(): Promise<NamedTensor[]>;
}

export interface StepOutcome {
  /** Loss of the batch before the update. */
  loss: number;
  /** False when the loss was NaN or infinite, and so no weight was updated. */
  updated: boolean;
  /** The update's learning rate, where it differs from the schedule's. */
  learningRate?: number;
}

/** The state that a strategy's next step depends on, besides weights and optimizer. */
export interface StrategyState {
  tensors: NamedTensor[];
  /** A JSON value. */
  data: unknown;
  /**
   * Where another number of ranks saved it: their states. This rank's is then that of a rank with its number, or of the
   * first one.
   */
  earlier?: EarlierRanks;
}

/** The states of ranks of which there were more or fewer. */
export interface EarlierRanks {
  worldSize: number;
  read(rank: number): Promise<Pick<StrategyState, 'tensors' | 'data'>>;
}

/** The same before it is saved. */
export interface LiveStrategyState {
  /** The strategy owns them, and its next step changes them. */
  tensors: ReadonlyMap<string, Tensor>;
  /** What lies in files; the next step changes it, too. */
  files?: Pick<SlotFiles, 'read'> | undefined;
  /** A JSON value that later steps leave unchanged. */
  data: unknown;
}

/** An event in a strategy's step. */
export interface StrategyEvent {
  kind: string;
  message: string;
  data: Record<string, unknown>;
  /** Metrics of the event, by full name. */
  points: ReadonlyMap<string, number>;
}

/**
 * How members interact during training. A strategy does every exchange between them; the trainer does not depend on the
 * kind of strategy.
 */
export interface Strategy {
  readonly name: string;
  /**
   * Whether ranks exchange during training. Then all of them do the same steps: a stop, a pause, a requested checkpoint
   * and a non-finite loss take effect at the same step (`Lockstep`), and every rank must make the same collective calls
   * in each step. `core/protocol/run/strategies/strategy-rules.ts` lists the options that this excludes.
   */
  readonly isLockstep: boolean;
  /**
   * Whether `state` has this rank's part of the trained weights. Between two rendezvous the model then lacks them,
   * except within `assemble`, and a saved state has no other copy of them.
   */
  readonly keepsWeights?: boolean;
  /**
   * Called once, on all ranks, with initial weights or those of an earlier attempt.
   * @param saved the result of `state` in an earlier attempt
   * @param resumedAt the position of that attempt; absent at the start of a run
   */
  setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void>;
  /**
   * Forward pass, exchange, backward pass and update of one batch. Checks the loss before the update. Null where the
   * batch's update comes with a later step.
   */
  trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome | null>;
  /** Completes a pending update, on all ranks, before each rendezvous; null where there is none. */
  settle?(): Promise<StepOutcome | null>;
  /** The state for an exact resume. Called between two steps, and before each of them where ranks train in lockstep. */
  state?(): LiveStrategyState;
  /**
   * Repeats, on all ranks after `setup` with a saved state, what the last step before the state had begun.
   * @param lastBatch returns the batch of that step; all ranks call it or none does
   */
  repeatBegun?(member: Member, lastBatch: () => Promise<Batch>): Promise<void>;
  /**
   * Checks, on all ranks at each rendezvous before evaluation and saving, that the shared weights are the same on all
   * of them.
   *
   * @throws ReplicasDifferError on all ranks
   */
  verify?(member: Member, position: Position): Promise<void>;
  /**
   * Whether the schedule of the configuration decides the rate of the next step, or the strategy; absent: the schedule.
   */
  followsSchedule?(): boolean;
  /** The strategy's metrics by full name (`train/member_3_bytes_per_step`), called every `logEverySteps` steps. */
  points?(): ReadonlyMap<string, number>;
  /** Called when a rank begins to wait in a pause of its run, and when it goes on. */
  pause?(isPaused: boolean): void;
  /** Events since the last call. The first rank reports them; every rank reports its points. */
  events?(): readonly StrategyEvent[];
  /**
   * Brings the member's weights and their average up to date, where the strategy keeps them elsewhere between two
   * rendezvous.
   */
  collect?(): void;
  /**
   * Called on all ranks before the shared model is evaluated or saved: puts its weights in place of this rank's. With
   * averaged weights, the member's model holds this rank's average meanwhile.
   * @returns a function that restores this rank's weights; null where training continues from the new ones
   */
  assemble?(): Promise<(() => void) | null>;
  /** The model, where its layers are spread over the ranks; available after `setup`. */
  readonly spread?: SpreadModel;
}

/**
 * A task with the metrics of a run: those that the configuration asks for, and those of the strategy's ensemble.
 * Jointly trained members predict by their product of experts, which has separate metrics (`product_nll`) that `auto`
 * monitors; `ens_nll` remains the NLL of the mean of the members' probabilities. A metric that the run's configuration
 * monitors applies to its members as well.
 */
export function ensembleTask(
  task: Task,
  config: MetricRequests & Pick<RunConfig, 'strategy' | 'metrics'>,
  own: Readonly<Record<string, ProjectMetric>> = {},
): Task {
  const combination = combinationOf(config.strategy, task.kind);
  const options = { more: requestedMetrics(config), nllEpsilon: config.metrics.nllEpsilon, combination };
  const metrics: MetricsOf = (stack, dataset) => task.metrics(stack, dataset, options);
  const ensembleMonitor = task.ensembleMonitor.replace('/ens_', `/${answerSubject[combination]}_`);
  const labelScores: Task['labelScores'] = (stack, dataset) => task.labelScores?.(stack, dataset, combination) ?? [];
  const judged = {
    ...task,
    ...(task.labelScores && { labelScores }),
    ensembleMonitor,
    metrics: withHeldOut(withOwnMetrics(metrics, own, { task: task.kind, combination })),
  };
  const { monitor } = config.checkpoints;
  if (monitor === 'auto') return judged;
  const [, output, metric] = /^val\/(?:(.+)\/)?([^/]+)$/.exec(monitor) ?? [];
  const { kind } = task.further?.find(({ name }) => name === output)?.task ?? task;
  // A member's metric for `val/ens_acc` is `val/member_3_acc`. Some metrics exist only for an ensemble.
  const named = metricNamed(metric ?? monitor, metricsOfRun({ task: kind, own: describeMetrics(own) }));
  const prefix = output === undefined ? 'val/' : `val/${output}/`;
  const memberMonitor =
    named === null || named.subject === null ? task.memberMonitor : `${prefix}member_{rank}_${named.info.name}`;
  return { ...judged, ensembleMonitor: monitor, memberMonitor };
}

import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Batch, Dataset } from '../data/dataset.ts';
import type { Member, StepPosition } from '../member/member.ts';
import type { UpdateSettings } from '../optimizers/optimizers.ts';
import type { Position } from '../member/report.ts';
import type { Task } from '../member/tasks.ts';

/** What a strategy may need to know besides its own options. */
export interface StrategyContext {
  config: RunConfig;
  task: Task;
  /** Steps that each rank's training has at most. */
  totalSteps: number;
  /** The project's samples without labels, if it has any. */
  unlabelled?: Dataset;
}

export interface StepOutcome {
  /** Loss of the batch before the update. */
  loss: number;
  /** False when the loss was NaN or infinite: then nothing was updated. */
  updated: boolean;
  /** What the update was made with, where that is not the schedule's rate. */
  learningRate?: number;
}

/** What a strategy's next step depends on besides weights and optimizer. */
export interface StrategyState {
  tensors: NamedTensor[];
  /** Survives JSON. */
  data: unknown;
}

/** Something that happened in a strategy's step. */
export interface StrategyEvent {
  kind: string;
  message: string;
  data: Record<string, unknown>;
  /** Metrics that belong to it, by full name. */
  points: ReadonlyMap<string, number>;
}

/**
 * How members relate while they train. A strategy owns every exchange between them; the trainer does not know which one
 * runs.
 */
export interface Strategy {
  readonly name: string;
  /**
   * Whether ranks exchange while they train. Then all of them do the same steps: a stop, a pause, a checkpoint that is asked for and
   * a loss that is not finite end or interrupt them at the same one (`Lockstep`), and every rank must make the same calls of the
   * group in each step. What such a strategy excludes is in `core/protocol/run/strategy-rules.ts`.
   */
  readonly isLockstep: boolean;
  /**
   * Called once, on all ranks, with weights as the rank's seed made them or as an earlier attempt left them. `saved` is what `state`
   * gave then; `resumedAt`, where that attempt stood, is absent at a run's beginning.
   */
  setup(member: Member, group: ProcessGroup, saved: StrategyState | null, resumedAt?: Position): Promise<void>;
  /**
   * Forward, any exchange, backward and update of one batch. Checks the loss before it updates. Null while no batch is done: its update
   * comes with a later step.
   */
  trainStep(
    member: Member,
    batch: Batch,
    settings: UpdateSettings,
    position: StepPosition,
  ): Promise<StepOutcome | null>;
  /** Ends what is under way, on all ranks, before each rendezvous; null where nothing was. */
  settle?(): Promise<StepOutcome | null>;
  /** What to save for an exact resume; called when everything is settled. */
  state?(): Promise<StrategyState>;
  /**
   * Checks, on all ranks at each rendezvous before anything is evaluated or kept, that what they train together is the same on all of them.
   *
   * @throws ReplicasDifferError on all ranks
   */
  verify?(member: Member, position: Position): Promise<void>;
  /** Metrics of its own by full name (`train/member_3_bytes_per_step`), asked for every `logEverySteps` steps. */
  points?(): ReadonlyMap<string, number>;
  /** What has happened since it was last asked; of each kind the first rank tells, points are every rank's own. */
  events?(): readonly StrategyEvent[];
  /**
   * Called on all ranks before what they train together is evaluated or kept: puts its weights in place of this rank's own. Gives what
   * puts these back; null where training goes on from the new ones.
   */
  assemble?(): Promise<(() => void) | null>;
}

import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Batch } from '../data/dataset.ts';
import type { Member, StepPosition } from '../training/member.ts';
import type { UpdateSettings } from '../training/optimizers.ts';

export interface StepOutcome {
  /** Loss of the batch before the update. */
  loss: number;
  /** False when the loss was NaN or infinite: then nothing was updated. */
  updated: boolean;
}

/**
 * How members relate while they train. A strategy owns every exchange between them; the trainer does not know which one
 * runs.
 */
export interface Strategy {
  readonly name: string;
  /** Called once, with weights as the rank's seed made them or as a checkpoint holds them. */
  setup(member: Member, group: ProcessGroup): Promise<void>;
  /** Forward, any exchange, backward and update of one batch. Checks the loss before it updates. */
  trainStep(member: Member, batch: Batch, settings: UpdateSettings, position: StepPosition): Promise<StepOutcome>;
}

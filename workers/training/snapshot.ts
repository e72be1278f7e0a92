import { z } from 'zod';
import type { RunSettings } from '../../core/protocol/run/settings.ts';
import type { Member } from '../member/member.ts';
import type { SlotFiles } from '../optimizers/slots/slot-storage.ts';
import { weightVariables } from '../member/weights.ts';
import { holdTensors } from '../tensorflow/tensor-values.ts';
import type { Tensor } from '../tensorflow/tf.ts';
import type { History } from './history.ts';
import type { LiveSettings } from './live-settings.ts';
import type { LossMeter, SavedLosses } from './loss-meter.ts';
import type { RankTraining, TrainingProgress } from './rank-training.ts';

/** What a state holds, beside the model, the optimizer, the strategy and the callbacks. */
export interface TrainingToSave {
  training: RankTraining;
  history: History;
  settings: LiveSettings;
  meter: LossMeter;
  readonly schedule: SavedSchedule;
  beforeSave(): void;
}

/** The learning rate that the next step would have, and over how many steps and epochs its schedule is spread. */
export const savedScheduleSchema = z.strictObject({
  learningRate: z.number(),
  totalSteps: z.int(),
  epochs: z.int(),
});
export type SavedSchedule = z.output<typeof savedScheduleSchema>;

/** Everything that the next step of a rank depends on, apart from its tensors. */
interface Snapshot {
  progress: TrainingProgress;
  settings: Readonly<RunSettings>;
  schedule: SavedSchedule;
  optimizerSteps: number[];
  /** Undefined without an average of the weights. */
  averagedUpdates: number | undefined;
  losses: SavedLosses;
  callbacks: Record<string, unknown>;
  /** Undefined for a strategy without a state. */
  strategy: unknown;
  historyCounts: ReadonlyMap<string, number>;
  /** Number of points that the rank had reported. */
  reportedPoints: number;
}

/** The position of a rank in its training. */
export interface TrainingPosition {
  snapshot: Snapshot;
  tensors: ReadonlyMap<string, Tensor>;
  /** What lies in files: as it is when it is read, so a save must precede the next step. */
  files?: Pick<SlotFiles, 'read'> | undefined;
}

/** The present position. The rank owns the tensors, and its next step changes them. */
export function positionOf({ training, history, settings, meter, schedule }: TrainingToSave): TrainingPosition {
  const { callbacks, member, strategy, report } = training.parts;
  const states = callbacks.flatMap((callback) => (callback.state ? [[callback.name, callback.state()] as const] : []));
  const ofStrategy = strategy.state?.();
  const snapshot: Snapshot = {
    progress: { ...training.progress },
    settings: settings.now,
    schedule,
    optimizerSteps: [...member.optimizer.steps],
    averagedUpdates: member.average?.updates,
    losses: meter.state,
    callbacks: Object.fromEntries(states),
    strategy: ofStrategy?.data,
    historyCounts: history.counts,
    reportedPoints: report.reportedPoints,
  };
  const tensors = new Map([
    ...named('weights/', strategy.keepsWeights === true ? untrainedWeights(member) : weightVariables(member.model)),
    ...named('optimizer/', member.optimizer.slots),
    ...named('average/', member.average?.tensors ?? new Map<string, Tensor>()),
    ...named('strategy/', ofStrategy?.tensors ?? new Map<string, Tensor>()),
  ]);
  return { snapshot, tensors, files: ofStrategy?.files };
}

/** Keeps the present position while the rank goes on. The caller disposes of its tensors. */
export function holdPosition(rank: TrainingToSave): TrainingPosition {
  const position = positionOf(rank);
  return { ...position, tensors: holdTensors(position.tensors) };
}

function untrainedWeights({ model, variables }: Member): Map<string, Tensor> {
  return new Map([...weightVariables(model)].filter(([, variable]) => !variables.includes(variable)));
}

function named(prefix: string, tensors: ReadonlyMap<string, Tensor>): [string, Tensor][] {
  return [...tensors].map(([name, tensor]) => [prefix + name, tensor]);
}

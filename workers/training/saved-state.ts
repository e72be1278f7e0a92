import { z } from 'zod';
import { realNumber } from '../../core/protocol/wire/numbers.ts';
import type { PointBatch } from '../../core/protocol/wire/points.ts';
import { type RunSettings, runSettingsSchema } from '../../core/protocol/run/settings.ts';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { mayResize } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { samplesPerOrderedStep } from '../../core/protocol/run/strategies/strategy-rules.ts';
import {
  loadState,
  readState,
  removeStates,
  saveStateAlone,
  type TrainingState,
} from '../checkpoints/training-state.ts';
import type { Strategy, StrategyState } from '../strategies/strategy.ts';
import type { Member } from '../member/member.ts';
import type { SlotFiles } from '../optimizers/slots/slot-storage.ts';
import { holdTensors } from '../tensorflow/tensor-values.ts';
import type { Tensor } from '../tensorflow/tf.ts';
import type { Controls } from './controls.ts';
import { History } from './history.ts';
import type { LossMeter, SavedLosses } from './loss-meter.ts';
import type { RankSetup, RankTraining, TrainingProgress } from './rank-training.ts';
import { type LiveSettings, type SavedSchedule, savedScheduleSchema } from './live-settings.ts';
import { readTensors, weightVariables, writeTensors, writeWeights } from '../member/weights.ts';

const savedDataSchema = z.strictObject({
  progress: z.strictObject({
    epoch: z.int(),
    batch: z.int(),
    step: z.int(),
    round: z.int(),
    rendezvous: z.int(),
    standingBy: z.boolean(),
    stoppedAlone: z.boolean(),
  }),
  settings: runSettingsSchema,
  schedule: savedScheduleSchema,
  optimizerSteps: z.array(z.int()),
  /** Absent without an average of the weights. */
  averagedUpdates: z.int().optional(),
  losses: z.strictObject({ loss: realNumber, steps: z.int() }),
  /** Of the round so far. */
  round: z.strictObject({ loss: realNumber, steps: z.int(), samples: z.int(), elapsedMs: z.number() }),
  callbacks: z.record(z.string(), z.unknown()),
  /** Samples that a step takes from the order of an epoch. */
  samplesPerStep: z.int(),
  /** Points that the hub may not have written before it died. */
  points: z.array(z.strictObject({ name: z.string(), epoch: z.int(), step: z.int(), value: realNumber })),
  /** SHA-256 of the model's architecture; absent where the model has no description. */
  model: z.string().optional(),
  /** Absent for a strategy without a state. */
  strategy: z.unknown().optional(),
});

type SavedData = z.output<typeof savedDataSchema>;

/** The state of an earlier attempt, apart from that of the member and the callbacks, which have it already. */
export interface ResumedTraining {
  progress: TrainingProgress;
  settings: RunSettings;
  schedule?: SavedSchedule | undefined;
  history: History;
  losses: SavedLosses;
  strategy: StrategyState | null;
  /** Points to report again. */
  points: SavedData['points'];
  model?: string | undefined;
}

/** A rank's training as its state holds it. */
export interface TrainingToSave extends Omit<RankSetup, 'task' | 'lostRanks'> {
  readonly controls: Controls;
  readonly training: RankTraining;
  readonly history: History;
  readonly settings: LiveSettings;
  readonly meter: LossMeter;
  /** Called right before a state is saved. */
  beforeSave(): void;
}

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
export function positionOf(rank: TrainingToSave): TrainingPosition {
  const { callbacks, history, member, meter, report, settings, strategy, training } = rank;
  const states = callbacks.flatMap((callback) => (callback.state ? [[callback.name, callback.state()] as const] : []));
  const ofStrategy = strategy.state?.();
  const snapshot: Snapshot = {
    progress: { ...training.progress },
    settings: settings.now,
    schedule: settings.scheduleAt(training.progress),
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

/** What a state says about the rows of `metrics.csv`. */
export type SavedRows = Pick<TrainingState, 'metricRows' | 'recordedRows'>;

/**
 * Saves everything that the next step of a rank depends on: a resumed run has the bits of an uninterrupted one.
 * @param rows `metricRows` are those of the metrics that belong to the state, null where the step tells it;
 * `recordedRows` those that were on the disk
 */
export async function saveTrainingState(rank: TrainingToSave, at: TrainingPosition, rows: SavedRows): Promise<void> {
  const state = await stateOf(rank, at, { metricRows: rows.metricRows, points: [] });
  await rank.files.saveState({ ...state, recordedRows: rows.recordedRows });
}

/**
 * Saves the state of a rank whose hub has died, with the points that the hub may not have written, unless another hub
 * has the run.
 * @param round the number of the save, the same on all ranks
 */
export async function saveTrainingStateAlone(rank: TrainingToSave, at: TrainingPosition, round: number): Promise<void> {
  const { files, report } = rank;
  const { snapshot } = at;
  const moved = { ...at, snapshot: { ...snapshot, progress: { ...snapshot.progress, round } } };
  const points = rowsOf(report.unrecorded(snapshot.reportedPoints));
  const state = await stateOf(rank, moved, { metricRows: null, points });
  await saveStateAlone(files.folder, files.rank, state, () => files.isOfThisAttempt());
}

async function stateOf(
  { config, files: runFiles, group, history, training }: TrainingToSave,
  { snapshot, tensors, files }: TrainingPosition,
  { metricRows, points }: { metricRows: number | null; points: SavedData['points'] },
): Promise<TrainingState> {
  const { progress, settings, schedule, optimizerSteps, averagedUpdates, losses, callbacks, strategy, historyCounts } =
    snapshot;
  const data = {
    progress,
    settings,
    schedule,
    optimizerSteps,
    averagedUpdates,
    losses: losses.interval,
    round: losses.round,
    callbacks,
    samplesPerStep: samplesPerOrderedStep(config),
    strategy,
    model: training.modelHash,
    points,
  };
  const { round, epoch, step } = progress;
  const worldSize = mayResize(config) ? group.worldSize : undefined;
  const inFiles = (files?.read() ?? []).map((tensor) => ({ ...tensor, name: `strategy/${tensor.name}` }));
  const all = [...(await readTensors(tensors)), ...inFiles, ...history.toTensors(historyCounts)];
  return { round, epoch, step, attempt: runFiles.attempt, metricRows, worldSize, tensors: all, data };
}

/** A batch as the state's JSON has it. */
function rowsOf({ names, nameIndex, epoch, step, value }: PointBatch): SavedData['points'] {
  return Array.from(nameIndex, (name, at) => ({
    name: names[name],
    epoch: epoch[at],
    step: step[at],
    value: value[at],
  }));
}

/** The states from which ranks continue. */
export interface SavedRanks {
  round: number;
  /** The number of ranks that saved it. */
  worldSize: number;
}

type Restored = Pick<RankSetup, 'config' | 'files' | 'member' | 'callbacks'> & {
  strategy: Pick<Strategy, 'keepsWeights'>;
};

/**
 * Restores a rank's state. Where other ranks than before train one model, a new rank begins with what all have in
 * common, and the strategy gets the states of all earlier ranks.
 */
export async function loadTrainingState(parts: Restored, from: SavedRanks): Promise<ResumedTraining> {
  const { member, callbacks, config, strategy: now } = parts;
  const { folder, rank } = parts.files;
  const isNew = rank >= from.worldSize;
  const { tensors, data } = await readOwn(folder, rank, from);
  const saved = savedDataSchema.parse(data);
  const source = `The state of rank ${isNew ? 0 : rank} at round ${from.round}`;
  writeWeights(member.model, withoutPrefix(tensors, 'weights/'), source, now.keepsWeights ? member.variables : []);
  writeTensors(member.optimizer.slots, withoutPrefix(tensors, 'optimizer/'), source);
  member.optimizer.steps = saved.optimizerSteps;
  if (member.average !== null && saved.averagedUpdates !== undefined) {
    writeTensors(member.average.tensors, withoutPrefix(tensors, 'average/'), source);
    member.average.updates = saved.averagedUpdates;
  }
  for (const callback of callbacks) {
    if (isNew && callback.isOfRank) continue;
    if (callback.restore && callback.name in saved.callbacks) callback.restore(saved.callbacks[callback.name]);
  }
  const { settings, schedule, losses: interval, round: ofRound, model, points } = saved;
  return {
    progress: progressOf(saved, config),
    settings,
    schedule,
    losses: { interval, round: ofRound },
    strategy: strategyStateOf({ tensors, data: saved }, folder, from, config),
    model,
    points: isNew ? [] : points,
    history: History.fromTensors(tensors),
  };
}

/** A new rank reads what the first one saved. Of a rank of that number in a still earlier attempt nothing stays. */
async function readOwn(folder: string, rank: number, { round, worldSize }: SavedRanks): Promise<TrainingState> {
  if (rank < worldSize) return loadState(folder, rank, round);
  await removeStates(folder, rank);
  return readState(folder, 0, round);
}

/**
 * With other samples per step than before, the rest of the epoch begins at most one step earlier, so that no sample is
 * left out.
 */
function progressOf({ progress: saved, samplesPerStep }: SavedData, config: RunConfig): TrainingProgress {
  const now = samplesPerOrderedStep(config);
  const batch = Math.floor((saved.batch * samplesPerStep) / now);
  return { ...saved, batch };
}

function strategyStateOf(
  { tensors, data }: { tensors: readonly NamedTensor[]; data: SavedData },
  folder: string,
  { round, worldSize }: SavedRanks,
  config: RunConfig,
): StrategyState | null {
  if (data.strategy === undefined) return null;
  const own = { tensors: withoutPrefix(tensors, 'strategy/'), data: data.strategy };
  if (!mayResize(config) || worldSize === config.members) return own;
  const read = async (rank: number): Promise<Pick<StrategyState, 'tensors' | 'data'>> => {
    const state = await readState(folder, rank, round);
    const { strategy } = savedDataSchema.parse(state.data);
    return { tensors: withoutPrefix(state.tensors, 'strategy/'), data: strategy };
  };
  return { ...own, earlier: { worldSize, read } };
}

/** What all members of an ensemble have in common in the state of one of them: the callbacks' state and the history. */
export async function readCommonState(
  folder: string,
  rank: number,
  round: number,
): Promise<{ callbacks: Record<string, unknown>; history: History }> {
  const { tensors, data } = await readState(folder, rank, round);
  return { callbacks: savedDataSchema.parse(data).callbacks, history: History.fromTensors(tensors) };
}

function withoutPrefix(tensors: readonly NamedTensor[], prefix: string): NamedTensor[] {
  return tensors
    .filter(({ name }) => name.startsWith(prefix))
    .map((tensor) => ({ ...tensor, name: tensor.name.slice(prefix.length) }));
}

import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import {
  commonSamplers,
  samplerOf,
  samplesPerStep,
  splitsState,
  strategyRules,
} from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { Backend } from '../../backends/backend.ts';
import { DistributedSeeder } from '../../callbacks/distributed-seeder.ts';
import type { Callback } from '../../callbacks/callback.ts';
import { followOthers } from '../../callbacks/follow-others.ts';
import { type CallbackPlan, createCallbacks } from '../../callbacks/index.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Splits } from '../../data/dataset.ts';
import { distributeData, type RankData } from '../../data/distribute.ts';
import { targetNamesOf } from '../../../core/preprocessing/schema.ts';
import { preprocessingOf } from '../../data/standardize.ts';
import { augmentedBatches } from '../../data/augment/augmented-batches.ts';
import { requireAugmentable } from '../../data/augment/augment.ts';
import type { BatchSource } from '../../data/batches.ts';
import { readLabels, withLabels } from '../../data/labels.ts';
import { type HoldOut, holdOutOf, withHoldOut } from '../../data/hold-out.ts';
import { requireMixable, requireStreamable, requireUsableTargets } from './require-usable-data.ts';
import type { StreamReader } from '../../data/streams/sources.ts';
import { createSampler, type Sampler, type SamplerOptions } from '../../data/samplers.ts';
import type { Project } from '../../project/define-project.ts';
import { loadProject, loadProjectData, modelShapes, parseHyperparameters } from '../../project/load-project.ts';
import { explainError } from '../../project/explain-error.ts';
import { projectCallbacks } from '../../project/project-callbacks.ts';
import { requireUsedMasks } from './require-used-masks.ts';
import { setupIndependentWorker } from './setup.ts';
import { modelBuilder, orderOf, stageOf } from './stage-of-rank.ts';
import type { StackedStrategy } from '../../stacked/member-stack.ts';
import { createStrategy } from '../../strategies/index.ts';
import type { ModelStage } from '../../strategies/pipeline/stage-passes.ts';
import { ensembleTask, type Strategy } from '../../strategies/strategy.ts';
import type { LayersModel, Variable } from '../../tensorflow/tf.ts';
import type { Report } from '../../member/report.ts';
import { type Completion, readCompletion } from '../../training/completion.ts';
import { reportEqualMembers, reportSingleSamples } from './notes-on-start.ts';
import { startingPoint } from './starting-point.ts';
import type { Controls, Throttle } from '../../training/controls.ts';
import { type LossInputs, requireInputs } from '../../member/batch-tensors.ts';
import { taskLoss } from '../../member/weighted-loss.ts';
import { requireEvenBatches, requireInnerMembers } from '../../member/tasks/inner-members.ts';
import { type LossFunction, Member } from '../../member/member.ts';
import { groupsWithin } from '../../member/weight-groups.ts';
import { createOptimizer } from '../../optimizers/optimizers.ts';
import { slotStorageOf } from '../../optimizers/slots/bfloat16-slots.ts';
import { RunFiles, SaveRoom } from '../../member/run-files.ts';
import { noteOnAbsent, requireCounted } from '../../member/tasks/checks.ts';
import { type Task, taskFor } from '../../member/tasks.ts';
import { scheduledSteps } from '../../training/round-plan.ts';
import { Trainer, type TrainerSetup } from '../../training/trainer.ts';

/** A rank's connections while it trains. */
export interface SessionLinks {
  group: ProcessGroup;
  report: Report;
  controls: Controls;
  /** Resolves once the hub reports that all ranks are ready. */
  started: Promise<void>;
  print(line: string): void;
}

/** A rank of this process as far as its model is built. */
export interface BuildSeat {
  launch: Launch;
  links: Pick<SessionLinks, 'group'> & { report: Pick<Report, 'event'> };
}

/** A rank of this process. */
export interface Seat extends BuildSeat {
  links: SessionLinks;
}

/** Shared by all ranks of a run in this process. */
interface Shared {
  project: Project;
  hyperparameters: Record<string, unknown>;
  config: RunConfig;
  backend: Backend;
  task: Task;
  /** With `data.mode: broadcast`, `train` holds one sample; `openBatches` gives all. */
  data: Splits;
  /** What each rank holds out of `data.train`; null: nothing. */
  holdOut: HoldOut | null;
  openBatches: RankData['openBatches'];
}

/** Everything a rank needs to train. */
export interface Prepared extends Shared {
  batches: BatchSource;
  model: LayersModel;
  trainer: Trainer;
  /** Call it when the rank has trained: stacked ranks then no longer wait for it. */
  leaveStack(): void;
}

/** A run whose ranks have their data and models. */
export interface BuiltRun<S extends BuildSeat = Seat> {
  seats: readonly S[];
  shared: Shared;
  members: BuiltMember[];
  seeders: DistributedSeeder[];
}

/** A rank's member, and its part of the model where the layers are spread over the ranks. */
interface BuiltMember {
  member: Member;
  stage?: ModelStage | undefined;
}

/** Loads the project and the data of a run, and builds the models of its ranks in this process. */
export async function buildRun<S extends BuildSeat>(seats: readonly S[]): Promise<BuiltRun<S>> {
  const [{ launch, links }] = seats;
  const { config } = launch;
  const project = await loadProject(launch.projectFolder, launch.sourceFolder);
  const hyperparameters = parseHyperparameters(project, config.hyperparameters);
  const { backend, seeder } = await setupIndependentWorker(links.group, config, {
    blas: launch.blas,
    threads: launch.placement.threads ?? 1,
  });
  const otherSeeders = ranksOf(seats.slice(1)).map(
    (rank) => new DistributedSeeder({ baseSeed: config.seed, rank, unique: !config.identicalSeeds }),
  );
  // Draws that belong to no rank come from the first rank's stream, as if it were alone.
  seeder.install();
  const groups = seats.map((seat) => seat.links.group);
  const { splits, openBatches } = await loadData(launch, project, hyperparameters, groups);
  requireStreamable(config, splits);
  const holdOut = holdOutOf(config, splits.train);
  const data = withHoldOut(splits, holdOut);
  const task = ensembleTask(taskFor(project, data.train), config, project.metrics);
  for (const dataset of [data.train, data.unlabelled]) if (dataset) requireAugmentable(dataset, config.augmentation);
  const shared = { project, hyperparameters, config, backend, task, data, holdOut, openBatches };
  const seeders = [seeder, ...otherSeeders];
  const members: BuiltMember[] = [];
  for (const [i, seat] of seats.entries()) members.push(await createMember(seat, shared, seeders[i]));
  return { seats, shared, seeders, members };
}

export function ranksOf(seats: readonly BuildSeat[]): number[] {
  return seats.map(({ launch }) => launch.placement.rank);
}

/** Builds the model of a rank. */
export async function createMember(seat: BuildSeat, shared: Shared, seeder: DistributedSeeder): Promise<BuiltMember> {
  const { project, hyperparameters, config, task, data } = shared;
  const targetSize = task.targetSize(data.train);
  requireUsableTargets(config, task, data.train);
  const shapes = modelShapes(data.train);
  const { rank, draw } = modelBuilder(seat, seeder);
  const model = draw(() => project.model({ hyperparameters, config, ...shapes, targetSize, rank }));
  for (const dataset of [data.train, data.validation, data.test]) {
    if (!dataset) continue;
    requireInputs(model, dataset);
    requireCounted(dataset);
    task.check(model, dataset);
  }
  requireMixable(config, model, data.train);
  requireUsedMasks(model);
  requireInnerMembers(model, task, config);
  const stage = await stageOf(seat, config, model);
  const { statePrecision } = config.optimizer;
  // Ranks that train one model round alike.
  const { isOneModel } = strategyRules[config.strategy.kind];
  const slotStorage = slotStorageOf(statePrecision, isOneModel ? config.seed : seeder.seed);
  const optimizerOf = (variables: Variable[]) =>
    // A sharded run's strategy keeps the optimizer's state, one slice on each rank.
    createOptimizer(config.optimizer, splitsState(config.strategy) ? [] : variables, slotStorage);
  const { groups } = config.optimizer;
  const member = new Member(model, lossOf(shared), optimizerOf, {
    ...(stage === undefined ? config.optimizer : { clipNorm: 0, clipValue: 0, groups: groupsWithin(model, groups) }),
    averageDecay: config.ema.decay,
    checkpointing: stage === undefined ? config.activationCheckpointing : 'none',
  });
  return { member, stage };
}

interface RankParts extends BuiltMember {
  seeder: DistributedSeeder;
  /** The stack in which it trains; null: it trains by itself. */
  place: StackedStrategy | null;
  throttle: Throttle;
}

/** Gives a rank its trainer. */
export async function prepareRank({ launch, links }: Seat, shared: Shared, rank: RankParts): Promise<Prepared> {
  const { project, hyperparameters, config, task, data, holdOut, openBatches } = shared;
  const { member, stage, seeder, place, throttle } = rank;
  const { placement, lostRanks } = launch;
  const completion = await readCompletion(launch);
  const { group, report, controls } = links;
  let trainer: Trainer | null = null;
  const position = () => trainer?.training.position ?? { epoch: 0, step: 0 };
  const room = new SaveRoom({ report, controls, position });
  const files = new RunFiles(launch.runFolder, placement.rank, launch.attempt, room);
  if (placement.rank === 0) await recordData(files, report, data, task);
  const order = orderOf(launch, seeder);
  const batches = augmentedBatches(openBatches(streamReader(config, order)), {
    augmentation: config.augmentation,
    normalization: data.train.normalization,
    seed: order.seed,
    mixingSeed: strategyRules[config.strategy.kind].needsSameInputs ? config.seed : order.seed,
  });
  const rows = holdOut?.trainingRows(order.rank);
  const kind = data.train.stream === undefined ? samplerOf(config) : 'sequential';
  const samples = { kind, length: rows?.length ?? batches.length, rows, groups: data.train.groups };
  const samplerOfRank = (rank: number) => samplerFor(config, samples, { ...order, rank });
  const sampler = samplerOfRank(order.rank);
  requireEvenBatches(member.model, sampler);
  reportSingleSamples({ config, member, report, rank: placement.rank }, sampler, samplerOfRank);
  batches.follow?.(sampler);
  const callbacks = [
    seeder,
    ...callbacksOf(launch, completion, { task, files, hasValidation: data.validation !== undefined }),
    ...projectCallbacks(project, { hyperparameters, config, rank: placement.rank }, seeder.seed, (error) =>
      explainError(error, launch.projectFolder),
    ),
  ];
  const strategy = place ?? strategyOf(launch, shared, scheduledSteps(config, sampler), stage);
  const about = { config, member, task, data, batches, sampler, strategy, callbacks };
  const setup: TrainerSetup = { ...about, group, lostRanks, completion, files, report, controls, throttle };
  trainer = new Trainer(setup, await startingPoint(launch, setup));
  await reportEqualMembers(setup);
  return { ...shared, batches, model: member.model, trainer, leaveStack: () => place?.leave() };
}

function strategyOf(
  { overflowFolder, scratchFolder }: Launch,
  { config, task, data }: Shared,
  totalSteps: number,
  stage: ModelStage | undefined,
): Strategy {
  const folder = overflowFolder ?? scratchFolder;
  return createStrategy(config.strategy, { config, task, totalSteps, folder, unlabelled: data.unlabelled, stage });
}

function samplerFor(
  config: RunConfig,
  samples: Pick<SamplerOptions, 'kind' | 'length' | 'rows' | 'groups'>,
  { seed, rank }: Pick<SamplerOptions, 'seed' | 'rank'>,
): Sampler {
  return createSampler({
    ...samples,
    batchSize: samplesPerStep(config),
    dropLast: config.dropLast,
    seed,
    sharedSeed: config.seed,
    rank,
    worldSize: config.members,
    bagging: config.data.bagging,
  });
}

/** Ranks that train on the same batches read the same stream. */
function streamReader(config: RunConfig, own: StreamReader): StreamReader {
  return commonSamplers.includes(samplerOf(config)) ? { seed: config.seed, rank: 0 } : own;
}

/** The data of this process's ranks, distributed as `data.mode` says. */
function loadData(
  launch: Launch,
  project: Project,
  hyperparameters: Record<string, unknown>,
  groups: readonly ProcessGroup[],
): Promise<RankData> {
  const { config, scratchFolder, overflowFolder, groupRanks, nodeRanks, finishedRanks, lostRanks, labels, runFolder } =
    launch;
  const isWantedLater = finishedRanks.length + groupRanks.length + lostRanks.length < config.members;
  const folders = overflowFolder === null ? [scratchFolder] : [scratchFolder, overflowFolder];
  const how = { mode: config.data.mode, groups, nodeRanks, folders, isWantedLater };
  return distributeData(how, async () => {
    const read = () => loadProjectData(project, hyperparameters, launch);
    return labels === null ? read() : withLabels(await keptPool(launch, read), await readLabels(runFolder, labels));
  });
}

function callbacksOf(
  { config, finishedRanks, isInWaves }: Launch,
  completion: Completion | null,
  about: Pick<CallbackPlan, 'task' | 'files' | 'hasValidation'>,
): Callback[] {
  const callbacks = createCallbacks({ config, finishedRanks, isInWaves, ...about });
  return completion === null ? callbacks : followOthers(callbacks, config, completion);
}

/**
 * Saves the targets of the evaluated splits, and tells what was fitted on the training split and what reading found,
 * once for all ranks.
 */
async function recordData(files: RunFiles, report: Report, data: Splits, { kind }: Task): Promise<void> {
  const notes = [...(data.notes ?? []), ...notesOnAbsent(data, kind)];
  await files.saveTargets(data);
  const preprocessing = preprocessingOf(data);
  if (preprocessing !== null) report.fitted(preprocessing);
  for (const note of notes) report.event('data-note', note, { epoch: 0, step: 0 });
}

/** Where batches are broadcast, other ranks than the first have one sample of the training split. */
function notesOnAbsent(data: Splits, kind: Task['kind']): string[] {
  const { train, validation, test } = data;
  const targets = targetNamesOf(preprocessingOf(data));
  const ofTraining =
    train.length === 1 ? null : noteOnAbsent(train, kind, 'Members cannot learn to predict it.', targets);
  const ofOthers = [validation, test].map(
    (own) => own && noteOnAbsent(own, kind, 'Its metrics say nothing of it.', targets),
  );
  return [ofTraining, ...ofOthers].filter((note) => typeof note === 'string');
}

/** The loss of a run's members. */
export function lossOf({ project, task, hyperparameters, config }: Shared): LossFunction {
  const context = { hyperparameters, config };
  return (outputs, targets, { epoch, step, totalSteps, scalars, rank = 0 }, of) => {
    const own = scalars === undefined ? {} : Object.fromEntries(scalars);
    if (project.loss === undefined) return taskLoss(task, outputs, targets, { ...context.config.loss, ...own }, of);
    const hyperparameters = { ...context.hyperparameters, ...own };
    const position = { epoch, step, progress: Math.min(1, step / totalSteps), rank };
    // The inputs are made when the loss reads them.
    return project.loss(
      Object.assign(Object.create(of) as LossInputs, context, { hyperparameters, outputs, targets }, position),
    );
  };
}

let kept: { key: string; splits: Promise<Splits> } | null = null;

/**
 * The pool of a run that trains on some labels of it. A process that stays for the next round of a search reads it only
 * once: `data()` draws its random numbers from the run's seed, so that the same configuration gives the same pool.
 */
function keptPool(
  { projectFolder, sourceFolder, dataFolders, config }: Launch,
  read: () => Promise<Splits>,
): Promise<Splits> {
  // A round of a warm search names another checkpoint, on which the pool does not depend.
  const key = JSON.stringify([projectFolder, sourceFolder, dataFolders, { ...config, warmStart: null }]);
  if (kept?.key !== key) kept = { key, splits: read() };
  return kept.splits;
}

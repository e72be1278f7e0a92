import type { Launch } from '../protocol/messages.ts';
import { samplerOf, samplesPerStep } from '../protocol/strategy-rules.ts';
import { createCallbacks } from './callbacks/index.ts';
import type { ProcessGroup } from './collectives/process-group.ts';
import { distributeData, type RankData } from './data/distribute.ts';
import { createSampler } from './data/samplers.ts';
import type { Splits } from './data/dataset.ts';
import { latestCommonRound } from './checkpoints/training-state.ts';
import type { Project } from './project/define-project.ts';
import { loadProjectData } from './project/load-data.ts';
import { loadProject, parseHyperparameters } from './project/load-project.ts';
import { drawFigures } from './project/draw-figures.ts';
import { type IndependentWorker, setupIndependentWorker } from './setup.ts';
import { ensembleTask } from './strategies/ensemble-task.ts';
import { createStrategy } from './strategies/index.ts';
import { comparisonSplit, evaluateSets } from './training/evaluate-sets.ts';
import { Member, type LossFunction } from './training/member.ts';
import { createOptimizer } from './training/optimizers.ts';
import type { Controls } from './training/controls.ts';
import type { Report } from './training/report.ts';
import { RunFiles } from './training/run-files.ts';
import { loadTrainingState } from './training/saved-state.ts';
import { type Task, taskOf } from './training/tasks.ts';
import { plannedSteps, type StopReason, Trainer, type TrainerParts } from './training/trainer.ts';
import type { LayersModel } from './tf.ts';

/** How a rank stands with its hub while it trains. */
export interface SessionLinks {
  group: ProcessGroup;
  report: Report;
  controls: Controls;
  /** Tells the hub that this rank is ready to train. */
  ready(about: Prepared): void;
  /** Resolves once the hub says that all are. */
  started: Promise<void>;
  print(line: string): void;
}

/** Everything a rank needs to train, made from a launch message. */
export interface Prepared {
  project: Project;
  hyperparameters: Record<string, unknown>;
  worker: IndependentWorker;
  task: Task;
  /** Of `train` perhaps only a sample: `batches` has them all. */
  data: Splits;
  /** Samples of the training set. */
  trainingSamples: number;
  model: LayersModel;
  trainer: Trainer;
  totalSteps: number;
}

/** One rank's life between launch and leave: prepare, train, compare checkpoint sets, draw. */
export async function runSession(launch: Launch, links: SessionLinks): Promise<StopReason> {
  const prepared = await prepare(launch, links);
  links.ready(prepared);
  await links.started;
  const reason = await prepared.trainer.fit();
  await finish(launch, links, prepared);
  return reason;
}

async function prepare(launch: Launch, links: SessionLinks): Promise<Prepared> {
  const { config, placement, groupRanks } = launch;
  const { group, report, controls } = links;
  const project = await loadProject(launch.projectFolder);
  const hyperparameters = parseHyperparameters(project, config.hyperparameters);
  const worker = await setupIndependentWorker(group, config, launch.blas);
  const task = ensembleTask(taskOf(project.task), config.strategy);
  const { splits: data, batches } = await loadData(launch, project, hyperparameters, group);
  const context = { hyperparameters, config };
  const targetSize = task.targetSize(data.train);
  const model = project.model({ ...context, featureShape: data.train.featureShape, targetSize, rank: placement.rank });
  for (const dataset of [data.train, data.validation, data.test]) if (dataset) task.check(model, dataset);

  const member = new Member(model, lossOf(project, task, context), (variables) =>
    // A sharded run's strategy keeps what the optimizer remembers, a slice on each rank.
    createOptimizer(config.optimizer, config.strategy.kind === 'sharded' ? [] : variables),
  );
  const files = new RunFiles(launch.runFolder, placement.rank);
  if (placement.rank === 0) await keepTargets(files, data);
  const sampler = createSampler({
    kind: samplerOf(config),
    length: batches.length,
    batchSize: samplesPerStep(config),
    dropLast: config.dropLast,
    seed: worker.seeder.seed,
    sharedSeed: config.seed,
    rank: placement.rank,
    worldSize: config.members,
  });
  const callbacks = [
    worker.seeder,
    ...createCallbacks({ config, task, files, groupRanks, hasValidation: data.validation !== undefined }),
  ];
  const totalSteps = plannedSteps(config, sampler);
  const strategy = createStrategy(config.strategy, { config, task, totalSteps, unlabelled: data.unlabelled });
  const parts: TrainerParts = {
    config,
    member,
    task,
    data,
    batches,
    sampler,
    strategy,
    callbacks,
    group,
    files,
    report,
    controls,
  };
  const trainer = new Trainer(parts, launch.resume ? await resumed(launch, parts) : undefined);
  const trainingSamples = batches.length;
  return { project, hyperparameters, worker, task, data, trainingSamples, model, trainer, totalSteps };
}

/** This rank's data, as `data.mode` has it. */
function loadData(
  launch: Launch,
  project: Project,
  hyperparameters: Record<string, unknown>,
  group: ProcessGroup,
): Promise<RankData> {
  const { config, scratchFolder, groupRanks } = launch;
  const isWantedLater = Math.max(...groupRanks) < config.members - 1;
  const how = { mode: config.data.mode, group, folder: scratchFolder, isWantedLater };
  return distributeData(how, () => loadProjectData(project, hyperparameters, launch));
}

/** What predictions are held against, once for all ranks. */
async function keepTargets(files: RunFiles, { validation, test }: Splits): Promise<void> {
  if (validation !== undefined) await files.saveTargets('validation', validation);
  if (test !== undefined) await files.saveTargets('test', test);
}

function lossOf(
  project: Project,
  task: Task,
  context: Pick<Prepared, 'hyperparameters'> & Pick<Launch, 'config'>,
): LossFunction {
  return (outputs, targets, { epoch, step, totalSteps, scalars }) => {
    const own = scalars === undefined ? {} : Object.fromEntries(scalars);
    if (project.loss === undefined) return task.loss(outputs, targets, { ...context.config.loss, ...own });
    const hyperparameters = { ...context.hyperparameters, ...own };
    const progress = step / totalSteps;
    return project.loss({ ...context, hyperparameters, outputs, targets, epoch, step, progress });
  };
}

async function resumed(launch: Launch, parts: TrainerParts) {
  const round = await latestCommonRound(launch.runFolder, launch.groupRanks);
  if (round === null) return undefined;
  return loadTrainingState(parts.files, round, parts.member, parts.callbacks);
}

async function finish(launch: Launch, links: SessionLinks, prepared: Prepared): Promise<void> {
  const { config, groupRanks, placement } = launch;
  const { report } = links;
  const { trainer, data, model, task } = prepared;
  const { group } = trainer;
  if (links.group.rank !== group.rank) return;
  const comparison = comparisonSplit(data);
  if (comparison === null) return;
  const earlierRanks = Array.from({ length: groupRanks[0] }, (_, rank) => rank);
  const files = new RunFiles(launch.runFolder, placement.rank);
  const hasEnsembleBest = config.checkpoints.ensembleBest && groupRanks.length === config.members;
  const sets = [
    ...(hasEnsembleBest ? (['ensemble-best'] as const) : []),
    ...(config.checkpoints.memberBest ? (['member-best'] as const) : []),
  ];
  const hasSets = data.validation !== undefined ? sets : [];
  const evaluation = { model, task, data, group, earlierRanks, files, epoch: trainer.epoch };
  const outcome = await evaluateSets(evaluation, comparison, hasSets);
  const isLastWave = earlierRanks.length + groupRanks.length === config.members;
  if (!isLastWave || group.rank !== groupRanks[0]) return;
  for (const set of outcome.evaluated) report.evaluated(set);
  for (const name of outcome.incomplete) {
    trainer.announce('set-incomplete', `Set "${name}" was not evaluated: not every rank has such a checkpoint.`);
  }
  await drawFigures(launch, links, prepared, outcome);
}

import { join } from 'node:path';
import type { Launch } from '../../core/protocol/run/messages.ts';
import type { Prepared, SessionLinks } from './preparation/prepare.ts';
import { comparisonSplit, evaluateSets, type SetsOutcome } from '../training/evaluate-sets.ts';
import { predictOfRank } from '../member/predict.ts';
import { RunFiles } from '../member/run-files.ts';
import type { StopReason } from '../training/rendezvous.ts';
import { saveFigure } from '../plots/index.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { copyForProject } from '../member/predictions.ts';

/** Runs one rank's session: trains, evaluates the checkpoint sets, draws the project's figures. */
export async function runSession(launch: Launch, links: SessionLinks, prepared: Prepared): Promise<StopReason> {
  await links.started;
  const reason = await prepared.trainer.fit().finally(() => prepared.leaveStack());
  await finish(launch, links, prepared);
  return reason;
}

/** Saves what the rank predicts of the pool with its last weights. */
async function predictPool({ data, model, task, trainer }: Prepared): Promise<void> {
  const { training } = trainer;
  const { files, spread } = training;
  if (data.unlabelled === undefined) {
    throw new Error('With data.mode broadcast the ranks get no pool to predict. Choose data.mode shared or local.');
  }
  const predictions = await (spread?.predict(data.unlabelled) ??
    predictOfRank(model, task, data.unlabelled, files.rank));
  if (training.isMember) await files.savePredictions('pool', 'final', predictions, training.epoch);
}

async function finish(launch: Launch, links: SessionLinks, prepared: Prepared): Promise<void> {
  const { config, groupRanks, finishedRanks, lostRanks, isInWaves } = launch;
  const { report } = links;
  const { data, model, task } = prepared;
  const { training } = prepared.trainer;
  const { group, spread: spreadModel } = training;
  const spread = spreadModel === undefined ? undefined : { model: spreadModel, ranks: links.group };
  if (links.group.rank !== group.rank && spread === undefined) return;
  if (launch.labels !== null) await predictPool(prepared);
  const comparison = comparisonSplit(data);
  if (comparison === null) return;
  const files = spread === undefined ? training.files : new RunFiles(launch.runFolder, group.rank, launch.attempt);
  const hasEnsembleBest = config.checkpoints.ensembleBest && !isInWaves;
  const sets = [
    ...(hasEnsembleBest ? (['ensemble-best'] as const) : []),
    ...(config.checkpoints.memberBest ? (['member-best'] as const) : []),
  ];
  const hasSets = data.validation !== undefined ? sets : [];
  const evaluation = { model, task, data, group, earlierRanks: finishedRanks, files, epoch: training.epoch, spread };
  const outcome = await evaluateSets(evaluation, comparison, hasSets);
  for (const message of outcome.damages) training.announce('file-damaged', message);
  const isLastWave = finishedRanks.length + groupRanks.length + lostRanks.length === config.members;
  if (!isLastWave || group.rank !== group.ranks[0] || (spread !== undefined && !training.isFirst)) return;
  for (const set of outcome.evaluated) report.evaluated(set);
  for (const name of outcome.incomplete) {
    training.announce(
      'set-incomplete',
      `Set "${name}" was not evaluated: not every rank has such a checkpoint that is whole.`,
    );
  }
  await drawFigures(launch, links, prepared, outcome);
}

/** Draws the project's figures into the run's `plots/`. A figure that fails is reported, and does not end the run. */
async function drawFigures(
  launch: Launch,
  links: SessionLinks,
  { project, hyperparameters, data, trainer }: Prepared,
  { evaluated, predictions }: SetsOutcome,
): Promise<void> {
  if (project.figures === undefined) return;
  try {
    await project.figures({
      hyperparameters,
      config: launch.config,
      data,
      history: trainer.history.series,
      evaluatedSets: evaluated,
      predictions: copyForProject(predictions),
      save: (name, figure) => saveFigure(join(launch.runFolder, 'plots'), name, figure),
      print: (line) => links.print(line),
    });
  } catch (error) {
    console.error(stackOf(error));
    const reason = explainError(error, launch.projectFolder);
    trainer.training.announce('figures-failed', `The project's figures() failed: ${reason}`);
  }
}

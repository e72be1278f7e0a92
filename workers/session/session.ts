import type { Launch } from '../../core/protocol/run/messages.ts';
import type { ProcessGroup } from '../collectives/process-group.ts';
import type { Prepared } from './prepare.ts';
import { drawFigures } from './draw-figures.ts';
import type { Controls } from '../training/controls.ts';
import { comparisonSplit, evaluateSets } from '../training/evaluate-sets.ts';
import type { Report } from '../member/report.ts';
import { RunFiles } from '../member/run-files.ts';
import type { StopReason } from '../training/trainer.ts';

/** How a rank stands with its hub while it trains. */
export interface SessionLinks {
  group: ProcessGroup;
  report: Report;
  controls: Controls;
  /** Resolves once the hub says that all ranks are ready. */
  started: Promise<void>;
  print(line: string): void;
}

/** One rank's life from the start to its leave: train, compare checkpoint sets, draw. */
export async function runSession(launch: Launch, links: SessionLinks, prepared: Prepared): Promise<StopReason> {
  await links.started;
  const reason = await prepared.trainer.fit().finally(() => prepared.leaveStack());
  await finish(launch, links, prepared);
  return reason;
}

async function finish(launch: Launch, links: SessionLinks, prepared: Prepared): Promise<void> {
  const { config, groupRanks, placement } = launch;
  const { report } = links;
  const { data, model, task } = prepared;
  const { training } = prepared.trainer;
  const { group } = training;
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
  const evaluation = { model, task, data, group, earlierRanks, files, epoch: training.epoch };
  const outcome = await evaluateSets(evaluation, comparison, hasSets);
  const isLastWave = earlierRanks.length + groupRanks.length === config.members;
  if (!isLastWave || group.rank !== groupRanks[0]) return;
  for (const set of outcome.evaluated) report.evaluated(set);
  for (const name of outcome.incomplete) {
    training.announce('set-incomplete', `Set "${name}" was not evaluated: not every rank has such a checkpoint.`);
  }
  await drawFigures(launch, links, prepared, outcome);
}

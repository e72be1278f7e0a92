import type { Launch } from '../../../core/protocol/run/messages.ts';
import { removeStates } from '../../checkpoints/training-state.ts';
import { loadWarmStart } from '../../member/updates/warm-start.ts';
import { Generator, seedForRank } from '../../random/index.ts';
import type { TrainerParts } from '../../training/rank-training.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import { loadTrainingState } from '../../training/state/saved-state.ts';
import { loadForkedWeights } from './forked-weights.ts';

/** Brings a rank to the point at which its training begins: a saved state, the weights of another run, or its own initial weights. */
export async function startingPoint(launch: Launch, parts: TrainerParts) {
  const { resumeFrom, forkedAt, runFolder, placement } = launch;
  if (resumeFrom !== null) return loadTrainingState(parts, resumeFrom);
  await removeStates(runFolder, placement.rank);
  if (forkedAt !== null) return loadForkedWeights(launch, parts.member, forkedAt);
  // A model whose layers are spread over the ranks had its weights before it was cut.
  if (parts.config.strategy.kind !== 'pipeline') await startWarm(parts, parts.member.model, parts.group.rank);
  return undefined;
}

/** Gives a model the weights of the configured checkpoint, if there is one. @param rank whose checkpoint and random numbers */
export async function startWarm(
  { config, group, report }: Pick<TrainerParts, 'config' | 'group' | 'report'>,
  model: LayersModel,
  rank: number,
): Promise<void> {
  const { warmStart, seed, identicalSeeds } = config;
  if (warmStart.checkpoint === '') return;
  const checkpoint = warmStart.checkpoint.replaceAll('{rank}', String(rank));
  const generator = new Generator(seedForRank(seed, rank, identicalSeeds), 'warm-start');
  const { message, data } = await loadWarmStart(model, { ...warmStart, checkpoint }, generator);
  if (checkpoint !== warmStart.checkpoint || group.rank === group.ranks[0]) {
    report.event('warm-start', message, { epoch: 0, step: 0 }, data);
  }
}

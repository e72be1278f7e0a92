import { join } from 'node:path';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import { removeStates } from '../../checkpoints/training-state.ts';
import { loadWarmStart } from '../../member/warm-start.ts';
import { Generator, seedForRank } from '../../random/index.ts';
import type { RankSetup } from '../../training/rank-training.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import { loadTrainingState, type ResumedTraining } from '../../training/saved-state.ts';
import { checkpointRecordSchema } from '../../../core/protocol/run/record.ts';
import { settingsOf } from '../../../core/protocol/run/settings.ts';
import { memberOfRank } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { splitsLayers } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { readSealed } from '../../checkpoints/sealed-file.ts';
import type { Member } from '../../member/member.ts';
import { writeWeights } from '../../member/weights.ts';
import { History } from '../../training/history.ts';

/**
 * Brings a rank to the point at which its training begins: a saved state, the weights of another run, or its own
 * initial weights.
 */
export async function startingPoint(launch: Launch, setup: RankSetup) {
  const { resumeFrom, forkedAt, runFolder, placement } = launch;
  if (resumeFrom !== null) return loadTrainingState(setup, resumeFrom);
  await removeStates(runFolder, placement.rank);
  if (forkedAt !== null) return loadForkedWeights(launch, setup.member, forkedAt);
  // A model whose layers are spread over the ranks had its weights before it was cut.
  if (!splitsLayers(setup.config.strategy)) await startWarm(setup, setup.member.model, setup.group.rank);
  return undefined;
}

/**
 * Gives a model the weights of the configured checkpoint, if there is one.
 * @param rank whose checkpoint and random numbers
 */
export async function startWarm(
  { config, group, report }: Pick<RankSetup, 'config' | 'group'> & { report: Pick<RankSetup['report'], 'event'> },
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

/**
 * Gives a rank of a forked run the weights of its checkpoint, which lie in `<run>/origin/`. Training continues with the
 * next epoch and step; optimizer, callbacks and strategy start anew.
 * @throws with file and remedy when the weights are missing, damaged, or those of another architecture
 */
async function loadForkedWeights(
  { runFolder, placement, config }: Launch,
  member: Member,
  { epoch, step }: { epoch: number; step: number },
): Promise<ResumedTraining> {
  const rank = memberOfRank(config, placement.rank);
  const { record, content } = await readSealed(join(runFolder, 'origin', `rank-${rank}`), checkpointRecordSchema);
  writeWeights(member.model, decodeSafetensors(content).tensors, `The checkpoint "${record.name}" of the forked run`);
  return {
    progress: { epoch, batch: 0, step, round: 0, rendezvous: epoch, standingBy: false, stoppedAlone: false },
    settings: settingsOf(config),
    history: new History(),
    losses: { interval: { loss: 0, steps: 0 }, round: { loss: 0, steps: 0, samples: 0, elapsedMs: 0 } },
    strategy: null,
    points: [],
    model: record.model,
  };
}

import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import { memberOfRank } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { splitsLayers } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { freezeWeights } from '../../member/weight-groups.ts';
import type { DistributedSeeder } from '../../callbacks/distributed-seeder.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { readState } from '../../checkpoints/training-state.ts';
import { Generator, installAsMathRandom, seedForRank } from '../../random/index.ts';
import { cutModel, cutsSchema } from '../../strategies/pipeline/cut-model.ts';
import type { ModelStage } from '../../strategies/pipeline/stage-passes.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import type { Report } from '../../member/report.ts';
import { startWarm } from './starting-point.ts';

interface PlacedRank {
  launch: Launch;
  links: { group: ProcessGroup; report: Pick<Report, 'event'> };
}

/** The rank and the seed by which a rank orders its samples: the stages of a pipeline use those of their first rank. */
export function orderOf({ config, placement }: Launch, { seed }: { seed: number }): { rank: number; seed: number } {
  const { rank } = placement;
  if (!splitsLayers(config.strategy)) return { rank, seed };
  const member = memberOfRank(config, rank);
  return { rank: member, seed: seedForRank(config.seed, member, config.identicalSeeds) };
}

/**
 * How a rank draws its initial weights, and as which rank. Where the layers are spread over ranks, all of them build
 * the model of their first rank, of which each keeps a part.
 */
export function modelBuilder(
  { launch }: PlacedRank,
  seeder: DistributedSeeder,
): { rank: number; draw: <T>(body: () => T) => T } {
  const { rank, seed } = orderOf(launch, seeder);
  if (rank === launch.placement.rank) return { rank, draw: seeder.draw };
  const generator = new Generator(seed, 'member');
  return {
    rank,
    draw: (body) => {
      const restore = installAsMathRandom(generator);
      try {
        return body();
      } finally {
        restore();
      }
    },
  };
}

/**
 * Cuts the model where its layers are spread over the ranks, once it has the weights that it starts from; undefined
 * elsewhere.
 */
export async function stageOf(
  { launch, links: { group, report } }: PlacedRank,
  config: RunConfig,
  model: LayersModel,
): Promise<ModelStage | undefined> {
  const { strategy } = config;
  if (!splitsLayers(strategy)) return undefined;
  freezeWeights(model, config.optimizer.groups);
  const { resumeFrom, forkedAt, runFolder, placement } = launch;
  if (resumeFrom === null && forkedAt === null) {
    await startWarm({ config, group, report }, model, memberOfRank(config, placement.rank));
  }
  const saved = resumeFrom === null ? null : await readState(runFolder, placement.rank, resumeFrom.round);
  const starts = saved === null ? null : cutsSchema.parse(saved.data).strategy.starts;
  return await cutModel(model, { ...config, strategy }, group, starts);
}

import type { z } from 'zod';
import { pipelinePlace } from '../../../pipeline/schedule.ts';
import type { RunConfig } from '../config.ts';
import { splitsLayers, strategyRules } from './strategy-rules.ts';

/**
 * A number of ranks, which the option `members` configures. It is not the number of members where several ranks train
 * one model, so that neither count can be passed where the other is meant.
 */
export type RankCount = RunConfig['members'];
/** A number of members of an ensemble: of models that predict, have metrics and keep checkpoints. */
export type MemberCount = number & z.core.$brand<'members'>;

type Counted = Pick<RunConfig, 'members' | 'strategy'>;

/** A number that is known to count ranks, such as the length of a plan. */
export const rankCount = (count: number): RankCount => count as RankCount;

/** A number that is known to count members, such as the length of a list of them. */
export const memberCount = (count: number): MemberCount => count as MemberCount;

/**
 * Number of members of the ensemble that a run trains: its ranks, or 1 if all ranks train one model, or its pipelines.
 * It is no whole number where the stages of pipelines do not divide the ranks.
 */
export function memberCountOf(config: Counted): MemberCount {
  if (splitsLayers(config.strategy)) return memberCount(config.members / stagesOf(config));
  return memberCount(strategyRules[config.strategy.kind].isOneModel ? 1 : config.members);
}

/**
 * Number of ranks that train so many members with a strategy; null where all ranks train one model, whatever their
 * number.
 */
export function ranksForMembers(strategy: RunConfig['strategy'], members: MemberCount): RankCount | null {
  if (splitsLayers(strategy)) return strategy.stages === 0 ? null : rankCount(members * strategy.stages);
  return strategyRules[strategy.kind].isOneModel ? null : rankCount(members);
}

/** The member that a rank trains, which is also the rank that keeps its checkpoints and predictions. */
export function memberOfRank(config: Counted, rank: number): number {
  const { strategy, members } = config;
  if (splitsLayers(strategy)) return pipelinePlace(rank, members, stagesOf(config)).member;
  return strategyRules[strategy.kind].isOneModel ? 0 : rank;
}

/** Ranks that share the layers of a model. */
export function stagesOf({ members, strategy }: Counted): number {
  if (!splitsLayers(strategy)) return 1;
  return strategy.stages === 0 ? members : strategy.stages;
}

/** `8 members`, or `1 model on 8 ranks` where all ranks train it, or `4 members on 8 ranks`. */
export function countMembers(config: Counted): string {
  const { members: ranks, strategy } = config;
  const models = memberCountOf(config);
  if (models > 1 && models < ranks) return `${models} members on ${ranks} ranks`;
  if (models === 1 && strategyRules[strategy.kind].isOneModel)
    return `1 model on ${ranks} ${ranks === 1 ? 'rank' : 'ranks'}`;
  return ranks === 1 ? '1 member' : `${ranks} members`;
}

/** Whether a resume may change the number of ranks: they train one model, and each takes any part of the work. */
export function mayResize({ strategy }: Pick<RunConfig, 'strategy'>): boolean {
  return strategyRules[strategy.kind].mayResize;
}

/** Whether the number of ranks follows that of the devices, with each start and restart. */
export function followsDevices({ strategy, onMemberLoss }: Pick<RunConfig, 'strategy' | 'onMemberLoss'>): boolean {
  return onMemberLoss.kind === 'restart' && onMemberLoss.worldSize === 'devices' && mayResize({ strategy });
}

/** A run's configuration with the number of ranks that its plan has, which may be less than the configured one. */
export function plannedConfig({ config, plan }: { config: RunConfig; plan: readonly unknown[] }): RunConfig {
  return mayResize(config) ? { ...config, members: rankCount(plan.length) } : config;
}

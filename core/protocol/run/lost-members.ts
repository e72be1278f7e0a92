import type { LostMember, RunRecord } from './record.ts';
import { memberCountOf } from './strategies/ranks-and-members.ts';
import { strategyRules } from './strategies/strategy-rules.ts';

type WithMembers = Pick<RunRecord, 'plan' | 'lostMembers'>;

/** Ranks that are missing from a run because the others continued without them. */
export function lostRanksOf({ lostMembers = [] }: Pick<RunRecord, 'lostMembers'>): number[] {
  return lostMembers.map(({ rank }) => rank);
}

/**
 * The ranks that keep members of the ensemble: those that are not missing, or the first ranks of models that several
 * train.
 */
export function memberRanksOf({
  plan,
  lostMembers,
  config,
}: Pick<RunRecord, 'plan' | 'lostMembers' | 'config'>): number[] {
  if (strategyRules[config.strategy.kind].isOneModel) {
    return Array.from({ length: memberCountOf(config) }, (_, member) => member);
  }
  const lost = lostRanksOf({ ...(lostMembers && { lostMembers }) });
  return plan.map(({ rank }) => rank).filter((rank) => !lost.includes(rank));
}

/** `3 of 4 members since epoch 5: rank 3 was killed by SIGKILL`, with epochs from 1; null if no member is missing. */
export function describeLostMembers({ plan, lostMembers = [] }: WithMembers): string | null {
  if (lostMembers.length === 0) return null;
  const sinceEpoch = Math.max(...lostMembers.map(({ epoch }) => epoch)) + 1;
  const each = lostMembers.length === 1 ? lostMembers.map(describe) : lostMembers.map(describeWithEpoch);
  return `${plan.length - lostMembers.length} of ${plan.length} members since epoch ${sinceEpoch}: ${each.join(', ')}`;
}

function describe({ rank, how }: LostMember): string {
  return `rank ${rank} ${how.split('\n')[0].replace(/[.]$/, '')}`;
}

function describeWithEpoch(member: LostMember): string {
  return `${describe(member)} (epoch ${member.epoch + 1})`;
}

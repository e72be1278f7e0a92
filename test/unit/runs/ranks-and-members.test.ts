import { expect, it } from 'vitest';
import { pipelinePlace } from '../../../core/pipeline/schedule.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import {
  countMembers,
  type MemberCount,
  memberCount,
  memberCountOf,
  memberOfRank,
  type RankCount,
  rankCount,
  ranksForMembers,
  stagesOf,
} from '../../../core/protocol/run/strategies/ranks-and-members.ts';

const oneModel = ['data-parallel', 'sharded', 'hdet', 'pipeline'] as const;
const ofMembers = ['independent', 'joint', 'coupled'] as const;

/** What a run of 6 ranks trains: members, the member of each rank, and how the terminal says it. */
const cases: [RunConfigInput['strategy'], number, number[], string][] = [
  ...oneModel.map((kind): (typeof cases)[number] => [{ kind }, 1, [0, 0, 0, 0, 0, 0], '1 model on 6 ranks']),
  ...ofMembers.map((kind): (typeof cases)[number] => [{ kind }, 6, [0, 1, 2, 3, 4, 5], '6 members']),
  // Rank = stage · M + member.
  [{ kind: 'pipeline', stages: 3 }, 2, [0, 1, 0, 1, 0, 1], '2 members on 6 ranks'],
  [{ kind: 'pipeline', stages: 2 }, 3, [0, 1, 2, 0, 1, 2], '3 members on 6 ranks'],
  [{ kind: 'pipeline', stages: 6 }, 1, [0, 0, 0, 0, 0, 0], '1 model on 6 ranks'],
  [{ kind: 'pipeline', stages: 1 }, 6, [0, 1, 2, 3, 4, 5], '6 members'],
];

it.each(cases)('6 ranks of %o train %i members', (strategy, members, ofRank, text) => {
  const config = runConfigSchema.parse({ members: 6, strategy });
  expect(memberCountOf(config)).toBe(members);
  expect(ofRank.map((_, rank) => memberOfRank(config, rank))).toEqual(ofRank);
  expect(countMembers(config)).toBe(text);
});

it('a stage of a pipeline has one rank of each member, and a member one rank of each stage', () => {
  const config = runConfigSchema.parse({ members: 6, strategy: { kind: 'pipeline', stages: 3 } });
  const { ofMember, ofStage } = pipelinePlace(3, config.members, stagesOf(config));
  expect(ofMember.map((rank) => memberOfRank(config, rank))).toEqual([1, 1, 1]);
  expect(ofStage.map((rank) => memberOfRank(config, rank))).toEqual([0, 1]);
});

it('says how many ranks so many members need', () => {
  const ranks = (strategy: RunConfigInput['strategy']) =>
    ranksForMembers(runConfigSchema.parse({ strategy }).strategy, memberCount(4));
  expect(ofMembers.map((kind) => ranks({ kind }))).toEqual([4, 4, 4]);
  expect(oneModel.map((kind) => ranks({ kind }))).toEqual([null, null, null, null]);
  expect(ranks({ kind: 'pipeline', stages: 3 })).toBe(12);
});

it('does not compile where a number of ranks stands for one of members, or the other way round', () => {
  const config = runConfigSchema.parse({ members: 4, strategy: { kind: 'data-parallel' } });
  // @ts-expect-error: the option counts ranks
  const members: MemberCount = config.members;
  // @ts-expect-error: there is one member
  const ranks: RankCount = memberCountOf(config);
  // @ts-expect-error: a bare number is neither
  const bare: RankCount = 4;
  const [right, also]: [RankCount, MemberCount] = [rankCount(4), memberCountOf(config)];
  expect([members, ranks, bare, right, also]).toEqual([4, 1, 4, 4, 1]);
});

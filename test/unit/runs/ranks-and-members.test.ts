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
import { commonSamplers, strategyKinds, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';

type Kind = NonNullable<RunConfigInput['strategy']>['kind'];

const trains: Record<Kind, 'members' | 'one model'> = {
  independent: 'members',
  joint: 'members',
  coupled: 'members',
  'data-parallel': 'one model',
  sharded: 'one model',
  pipeline: 'one model',
  hdet: 'one model',
};
const kindsOf = (what: 'members' | 'one model') => strategyKinds.filter((kind) => trains[kind] === what);
const oneModel = kindsOf('one model');
const ofMembers = kindsOf('members');

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
  expect(new Set(ofMembers.map((kind) => ranks({ kind })))).toEqual(new Set([4]));
  expect(new Set(oneModel.map((kind) => ranks({ kind })))).toEqual(new Set([null]));
  expect(ranks({ kind: 'pipeline', stages: 3 })).toBe(12);
});

it('members that need the same inputs take only orders that are the same on all ranks', () => {
  const needing = strategyKinds.filter((kind) => strategyRules[kind].needsSameInputs);
  expect(needing).toEqual(['joint']);
  for (const kind of needing) expect(commonSamplers).toEqual(expect.arrayContaining([...strategyRules[kind].samplers]));
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

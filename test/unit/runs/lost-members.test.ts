import { expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { describeLostMembers, memberRanksOf } from '../../../core/protocol/run/lost-members.ts';

const plan = [0, 1, 2, 3].map((rank) => ({ rank })) as never;
const lost = (rank: number, epoch: number, how: string) => ({ rank, epoch, how, attempt: 1, step: 7 });

it('says how many members there are, since when, and why', () => {
  expect(describeLostMembers({ plan })).toBeNull();
  expect(describeLostMembers({ plan, lostMembers: [lost(3, 4, 'was killed by SIGKILL')] })).toBe(
    '3 of 4 members since epoch 5: rank 3 was killed by SIGKILL',
  );
  const two = [lost(3, 4, 'was killed by SIGKILL'), lost(0, 6, 'failed: No such layer.\nat model')];
  expect(describeLostMembers({ plan, lostMembers: two })).toBe(
    '2 of 4 members since epoch 7: rank 3 was killed by SIGKILL (epoch 5), rank 0 failed: No such layer (epoch 7)',
  );
});

it('names the ranks that keep members', () => {
  const lostMembers = [lost(1, 4, 'was killed by SIGKILL')];
  const config = runConfigSchema.parse({});
  expect(memberRanksOf({ plan, config })).toEqual([0, 1, 2, 3]);
  expect(memberRanksOf({ plan, config, lostMembers })).toEqual([0, 2, 3]);
  const shared = runConfigSchema.parse({ strategy: { kind: 'sharded' } });
  expect(memberRanksOf({ plan, config: shared })).toEqual([0]);
});

import { describe, expect, it } from 'vitest';
import { subsetOf } from '../../../workers/collectives/rank-subset.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';
import { every, expectSameBits, thirds } from './mapped.ts';

/** Ranks 1, 3 and 4 of five, as ranks 0 to 2. */
function subset() {
  const made = createInMemoryGroup(ranksOf(5));
  const chosen = [1, 3, 4];
  return { ...made, groups: chosen.map((rank) => subsetOf(made.groups[rank], chosen)), all: made.groups };
}

describe('a group of some ranks of a group', () => {
  it('answers collectives as a group of as many ranks, while the others call nothing', async () => {
    const { groups } = subset();
    const relayed = createInMemoryGroup(ranksOf(3)).groups;
    expect(groups.map(({ rank }) => rank)).toEqual([0, 1, 2]);
    expect(groups[1].ranks).toEqual([0, 1, 2]);
    const own = thirds(0, 7);
    const [found, expected] = await Promise.all(
      [groups, relayed].map((of) => every(of, (group) => group.allReduce(thirds(group.rank, 7), 'sum'))),
    );
    for (const array of found) expectSameBits(array, expected[0]);
    const gathered = await every(groups, (group) => group.allGather(group.rank === 0 ? own : thirds(group.rank, 7)));
    for (const arrays of gathered) for (const [rank, array] of arrays.entries()) expectSameBits(array, thirds(rank, 7));
    // What a rank passes in stays its own.
    expectSameBits(own, thirds(0, 7));
    const told = await every(groups, (group) => group.broadcast(Int32Array.of(group.rank), 2));
    expect(told.map(([value]) => value)).toEqual([2, 2, 2]);
    await every(groups, (group) => group.barrier());
  });

  it('keeps the order of calls, of which several may be pending', async () => {
    const { groups } = subset();
    const calls = await every(groups, (group) =>
      Promise.all([1, 2, 3].map(async (turn) => (await group.allReduce(Float64Array.of(turn), 'sum'))[0])),
    );
    expect(calls).toEqual([
      [3, 6, 9],
      [3, 6, 9],
      [3, 6, 9],
    ]);
  });

  it('is a group of one where it has one rank', async () => {
    const { groups } = createInMemoryGroup(ranksOf(2));
    expect([...(await subsetOf(groups[1], [1]).allReduce(Int32Array.of(4), 'sum'))]).toEqual([4]);
  });

  it('fails with the group, and when its ranks disagree', async () => {
    const { groups, relay } = subset();
    const waiting = groups[0].barrier();
    relay.rankLeft(0, 'it was killed');
    await expect(waiting).rejects.toThrow('Rank 0 left the group: it was killed.');
    await expect(groups[1].barrier()).rejects.toThrow('it was killed');
    const others = subset().groups;
    const calls = others.map((group) => group.allGather(group.rank === 1 ? Int32Array.of(1, 2) : Int32Array.of(1)));
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && (outcome.reason as Error).message).toContain('The ranks disagree: rank ');
    }
  });
});

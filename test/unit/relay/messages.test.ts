import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createInMemoryGroup, ranksOf } from './in-memory-group.ts';

describe('messages between ranks', () => {
  it('arrive in the order in which each rank sent them, with their types and bits', async () => {
    const { groups } = createInMemoryGroup([0, 1, 2]);
    groups[0].send(Float32Array.of(1.5, Number.NaN), 2);
    groups[1].send(Int32Array.of(7), 2);
    groups[0].send(Float64Array.of(Math.PI, 1, 2, 3), 2, [2, 2]);
    expect(await groups[2].receiveFrom(1)).toEqual({ data: Int32Array.of(7), shape: [1] });
    expect(await groups[2].receiveFrom(0)).toEqual({ data: Float32Array.of(1.5, Number.NaN), shape: [2] });
    expect(await groups[2].receiveFrom(0)).toEqual({ data: Float64Array.of(Math.PI, 1, 2, 3), shape: [2, 2] });
  });

  it('do not shift the sequence of collectives, which ranks may call meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { maxLength: 8 }), async (order) => {
        const { groups } = createInMemoryGroup(ranksOf(3));
        const sums = groups.map(async (group) => {
          const next = (group.rank + 1) % 3;
          const previous = (group.rank + 2) % 3;
          const all: number[] = [];
          for (const value of order) {
            group.send(Float32Array.of(value + group.rank), next);
            if (value === 0) all.push((await group.allReduce(Float32Array.of(1), 'sum'))[0]);
            all.push((await group.receiveFrom(previous)).data[0]);
          }
          return all;
        });
        const expected = (rank: number) =>
          order.flatMap((value) => (value === 0 ? [3, value + ((rank + 2) % 3)] : [value + ((rank + 2) % 3)]));
        expect(await Promise.all(sums)).toEqual([0, 1, 2].map(expected));
      }),
      { numRuns: 20 },
    );
  });

  it('are all kept where several arrive while a rank waits for the first', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const first = groups[1].receiveFrom(0);
    for (const value of [1, 2, 3]) groups[0].send(Float32Array.of(value), 1);
    expect((await first).data).toEqual(Float32Array.of(1));
    expect((await groups[1].receiveFrom(0)).data).toEqual(Float32Array.of(2));
    expect((await groups[1].receiveFrom(0)).data).toEqual(Float32Array.of(3));
  });

  it('need another rank of the group', () => {
    const { groups } = createInMemoryGroup([0, 1]);
    expect(() => groups[0].send(Float32Array.of(1), 0)).toThrow('other ranks of 0, 1, not with 0');
    expect(() => groups[0].send(Float32Array.of(1), 5)).toThrow('not with 5');
  });

  it('fail with the group when the other rank leaves', async () => {
    const { groups, relay } = createInMemoryGroup([0, 1, 2]);
    const waiting = groups[1].receiveFrom(0);
    relay.rankLeft(2, 'it was killed');
    await expect(waiting).rejects.toThrow(
      'receive(rank 0), sequence number 1, failed on rank 1: Rank 2 left the group',
    );
    await expect(groups[0].receiveFrom(1)).rejects.toThrow('it was killed');
    expect(() => groups[0].send(Float32Array.of(1), 1)).toThrow('it was killed');
  });

  describe('that never come', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('end the group with the rank at the end of the chain of waits', async () => {
      const stuck: number[][] = [];
      const slow: number[] = [];
      const { groups } = createInMemoryGroup(ranksOf(4), {
        timeoutMs: () => 1000,
        onStuck: (ranks) => void stuck.push(ranks),
        onSlow: (rank) => void slow.push(rank),
      });
      // Rank 3 waits for 2, which waits for 1, which computes for ever.
      const waits = [groups[3].receiveFrom(2), groups[2].receiveFrom(1)].map((wait) =>
        expect(wait).rejects.toThrow('rank 1 never sent what others wait for. Rank 1 runs on cpu:1.'),
      );
      await vi.advanceTimersByTimeAsync(800);
      expect(slow).toEqual([1]);
      await vi.advanceTimersByTimeAsync(2000);
      await Promise.all(waits);
      expect(stuck).toEqual([[1]]);
    });

    it('do not end a group whose late rank takes steps, or that is paused', async () => {
      let steps = 0;
      const { groups, relay } = createInMemoryGroup([0, 1], { timeoutMs: () => 1000, stepsOf: () => steps });
      const received = groups[1].receiveFrom(0);
      await vi.advanceTimersByTimeAsync(600);
      steps = 1;
      await vi.advanceTimersByTimeAsync(1000);
      relay.hold();
      await vi.advanceTimersByTimeAsync(9000);
      relay.release();
      await vi.advanceTimersByTimeAsync(600);
      groups[0].send(Float32Array.of(3), 1);
      await vi.advanceTimersByTimeAsync(1);
      expect((await received).data).toEqual(Float32Array.of(3));
    });
  });
});

import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { CollectiveError } from '../../../core/protocol/wire/collectives.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { gatherPredictions } from '../../../workers/member/predict.ts';
import { createInMemoryGroup, dropRank, ranksOf } from './in-memory-group.ts';

interface Gathered {
  ranks: readonly number[];
  values: number[];
}

/** Gathers `calls` times, and yields to other ranks before each call. */
async function gatherOften(group: ProcessGroup, calls: number, turns: number): Promise<Gathered[]> {
  const all: Gathered[] = [];
  for (let call = 0; call < calls; call += 1) {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    const arrays = await group.allGather(Float64Array.of(100 * call + group.rank));
    all.push({ ranks: [...group.ranks], values: arrays.map(([value]) => value) });
  }
  return all;
}

const loss = fc.record({
  /** Which of the remaining ranks is lost, how many collectives it has called by then, and when the hub notices. */
  which: fc.nat(),
  afterCalls: fc.nat({ max: 5 }),
  afterTurns: fc.nat({ max: 40 }),
});
const scenario = fc.record({
  worldSize: fc.integer({ min: 2, max: 6 }),
  paces: fc.array(fc.nat({ max: 3 }), { minLength: 6, maxLength: 6 }),
  losses: fc.array(loss, { minLength: 1, maxLength: 4 }),
});
const calls = 6;

describe('a group that loses ranks', () => {
  it('continues with the others, which agree at every collective on who took part', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ worldSize, paces, losses }) => {
        const inMemory = createInMemoryGroup(ranksOf(worldSize));
        let remaining = ranksOf(worldSize);
        const plan = losses.slice(0, worldSize - 1).map(({ which, ...when }) => {
          const rank = remaining[which % remaining.length];
          remaining = remaining.filter((other) => other !== rank);
          return { rank, ...when };
        });
        const outcomes = inMemory.groups.map((group) => {
          const departure = plan.find(({ rank }) => rank === group.rank);
          return gatherOften(group, departure?.afterCalls ?? calls, paces[group.rank]);
        });
        let present = ranksOf(worldSize);
        for (const { rank, afterTurns } of plan) {
          for (let turn = 0; turn < afterTurns; turn += 1) await setImmediate();
          present = present.filter((other) => other !== rank);
          dropRank(inMemory, present, rank);
        }
        const all = await Promise.all(remaining.map((rank) => outcomes[rank]));
        for (const [first, ...others] of [all]) for (const other of others) expect(other).toEqual(first);
        for (const [call, { ranks, values }] of all[0].entries()) {
          expect(values).toEqual(ranks.map((rank) => 100 * call + rank));
          for (const rank of remaining) expect(ranks).toContain(rank);
          const before = all[0][Math.max(0, call - 1)].ranks;
          for (const rank of ranks) expect(before).toContain(rank);
        }
      }),
      { seed: 12, numRuns: 200 },
    );
  });

  it('leaves out of a stack of predictions a rank that was lost between two of its outputs', async () => {
    const inMemory = createInMemoryGroup([0, 1, 2]);
    const predictionsOf = (rank: number) => ({
      kind: 'values' as const,
      samples: 1,
      width: 1,
      values: [Float32Array.of(rank), Float32Array.of(10 + rank)],
    });
    const [first, second, third] = inMemory.groups;
    const stacks = [first, second].map((group) => gatherPredictions(group, predictionsOf(group.rank)));
    await third.allGather(Float32Array.of(2), [1, 1]);
    dropRank(inMemory, [0, 1], 2);
    for (const stack of await Promise.all(stacks)) {
      expect(stack.ranks).toEqual([0, 1]);
      expect(stack.values).toEqual([Float32Array.of(0, 1), Float32Array.of(10, 11)]);
    }
  });

  it('continues alone with the last rank, through the relay', async () => {
    const inMemory = createInMemoryGroup([4, 7]);
    const pending = inMemory.groups[1].allGather(Int32Array.of(7));
    dropRank(inMemory, [7], 4);
    expect(await pending).toEqual([Int32Array.of(7)]);
    expect(inMemory.groups[1].ranks).toEqual([7]);
    expect(inMemory.groups[1].lostCount).toBe(1);
    expect(await inMemory.groups[1].allReduce(Float32Array.of(3), 'sum')).toEqual(Float32Array.of(3));
  });

  it('drops ranks that never come, and does not fail, if the hub says so', async () => {
    vi.useFakeTimers();
    const dropped: { missing: number[]; error: CollectiveError }[] = [];
    const inMemory = createInMemoryGroup([0, 1, 2], {
      timeoutMs: () => 1000,
      dropStuck: (missing, error) => {
        dropped.push({ missing, error });
        dropRank(inMemory, [0, 2], 1);
        return true;
      },
    });
    const gathered = [0, 2].map((rank) => inMemory.groups[rank].allGather(Int32Array.of(rank)));
    await vi.advanceTimersByTimeAsync(1001);
    vi.useRealTimers();
    expect(await Promise.all(gathered)).toEqual([0, 2].map(() => [Int32Array.of(0), Int32Array.of(2)]));
    expect(dropped.map(({ missing }) => missing)).toEqual([[1]]);
    expect(dropped[0].error.message).toContain('timed out after 1000 ms: called by ranks 0, 2, never by rank 1.');
  });
});

import { describe, expect, it } from 'vitest';
import type { ReduceOperation } from '../../../core/protocol/wire/collectives.ts';
import { Parts } from '../../../workers/collectives/parts.ts';
import { SharedMemory } from '../../../workers/collectives/memory/shared-memory.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';
import { every, expectSameBits, thirds, useFolders } from './mapped.ts';
import { notMapped, notRun } from '../../environment/reasons.ts';

const folders = useFolders();

/** An array in three parts that end at the given positions. */
function cut(array: Float32Array, first: number, second: number): Float32Array[] {
  return [array.slice(0, first), array.slice(first, second), array.slice(second)];
}

describe('an array in parts', () => {
  const arrays = cut(Float32Array.of(0, 1, 2, 3, 4, 5), 1, 4);
  const parts = new Parts(6, () => arrays);

  it('shows each of its elements in place', () => {
    expect(parts.views(2, 5)).toEqual([Float32Array.of(2, 3), Float32Array.of(4)]);
    expect(parts.views(2, 5)[0].buffer).toBe(arrays[1].buffer);
    expect(parts.views(3, 3)).toEqual([]);
    expect(parts.views().length).toBe(3);
  });

  it('becomes one array: a copy, or the part itself if there is one', () => {
    expect(parts.whole()).toEqual(Float32Array.of(0, 1, 2, 3, 4, 5));
    const array = Float32Array.of(7, 8);
    expect(Parts.of(array).whole()).toBe(array);
  });

  it('is read and written across its parts', () => {
    const target = new Float32Array(4);
    parts.copyTo(target, 1);
    expect([...target]).toEqual([1, 2, 3, 4]);
    parts.set(Float32Array.of(30, 40), 3);
    expect(arrays).toEqual([Float32Array.of(0), Float32Array.of(1, 2, 30), Float32Array.of(40, 5)]);
  });
});

describe.each([
  { how: 'the hub', length: 1001, mayMap: null },
  { how: 'files', length: 70_001, mayMap: false },
  { how: 'slots', length: 1001, mayMap: true },
  { how: 'mapped memory', length: 70_001, mayMap: true },
])('arrays in parts, through $how', ({ length, mayMap }) => {
  const obstacle = mayMap === true ? notMapped : null;
  it.skipIf(obstacle !== null).each<ReduceOperation>(['sum', 'mean', 'max'])(
    `are all-reduced(%s) in place to the result of whole arrays, wherever each rank splits them${notRun(obstacle)}`,
    async (operation) => {
      const folder = folders.next();
      const memoryOf = (rank: number) =>
        mayMap === null ? null : new SharedMemory(folder, rank, [0, 1, 2], { mayMap });
      const { groups } = createInMemoryGroup([0, 1, 2], {}, memoryOf);
      await every(groups, (group) => group.mapSlots());
      const cutByRank = ranksOf(3).map((rank) => cut(thirds(rank, length), 10 * rank, length - 300 * (rank + 1)));
      await every(groups, ({ rank }) =>
        groups[rank].allReduceParts(new Parts(length, () => cutByRank[rank]), 'float32', operation),
      );
      const whole = createInMemoryGroup([0, 1, 2]).groups;
      const [expected] = await every(whole, (group) => group.allReduce(thirds(group.rank, length), operation));
      for (const arrays of cutByRank) expectSameBits(new Parts(length, () => arrays).whole(), expected);
    },
  );
});

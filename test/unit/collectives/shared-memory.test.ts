import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CollectiveArray, ReduceOperation } from '../../../protocol/collectives.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { SharedMemory } from '../../../workers/collectives/shared-memory.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

/** A little above what goes through the hub, and no multiple of any group's size. */
const large = 70_001;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-memory-'));
});
afterEach(() => rm(folder, { recursive: true }));

function sharing(
  worldSize: number,
  memoryOf = (below: string, rank: number) => new SharedMemory(below, rank, ranksOf(worldSize)),
) {
  const below = mkdtempSync(join(folder, 'run-'));
  return createInMemoryGroup(ranksOf(worldSize), {}, (rank) => memoryOf(below, rank)).groups;
}

/** Thirds have no exact float, so that sums depend on their order. */
const thirds = (rank: number, length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => (i - rank * 1000) / 3);

const every = <T>(groups: readonly ProcessGroup[], call: (group: ProcessGroup) => Promise<T>): Promise<T[]> =>
  Promise.all(groups.map(call));

function expectSameBits(actual: CollectiveArray, expected: CollectiveArray): void {
  expect(actual.length).toBe(expected.length);
  expect(bytesOf(actual).equals(bytesOf(expected))).toBe(true);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: CollectiveArray): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

describe.each([2, 3, 5])('%i ranks that share memory', (worldSize) => {
  it.each<ReduceOperation>(['sum', 'mean', 'min', 'max'])(
    'all-reduce(%s) to the bits of the relay',
    async (operation) => {
      const relayed = await every(createInMemoryGroup(ranksOf(worldSize)).groups, (group) =>
        group.allReduce(thirds(group.rank, large), operation),
      );
      const shared = await every(sharing(worldSize), (group) => group.allReduce(thirds(group.rank, large), operation));
      for (const array of shared) expectSameBits(array, relayed[0]);
      const inPlace = await every(sharing(worldSize), (group) => {
        const array = thirds(group.rank, large);
        return group.allReduce(array, operation, array);
      });
      for (const array of inPlace) expectSameBits(array, relayed[0]);
    },
  );

  it('all-gather, broadcast and reduce-scatter as the relay does', async () => {
    const groups = sharing(worldSize);
    const gathered = await every(groups, (group) => group.allGather(thirds(group.rank, large)));
    for (const arrays of gathered) arrays.forEach((array, rank) => expectSameBits(array, thirds(rank, large)));
    const root = worldSize - 1;
    for (const array of await every(groups, (group) => group.broadcast(thirds(group.rank, large), root))) {
      expectSameBits(array, thirds(root, large));
    }
    const length = large * worldSize;
    const [whole] = await every(groups, (group) => group.allReduce(thirds(group.rank, length), 'sum'));
    const slices = await every(groups, (group) => group.reduceScatter(thirds(group.rank, length), 'sum'));
    slices.forEach((slice, i) => expectSameBits(slice, whole.slice(i * large, (i + 1) * large)));
  });

  it('keep collectives apart that follow each other at once, growing and shrinking', async () => {
    const groups = sharing(worldSize);
    await every(groups, async (group) => {
      for (let turn = 0; turn < 12; turn++) {
        const length = large * (1 + (turn % 4));
        const [first, small] = [
          group.allReduce(new Float32Array(length).fill(turn + group.rank), 'max'),
          group.barrier(),
        ];
        expectSameBits(await first, new Float32Array(length).fill(turn + worldSize - 1));
        await small;
      }
    });
  });
});

it('goes through the hub on all ranks where one has no room', async () => {
  let below = '';
  const groups = sharing(2, (path, rank) => {
    below = path;
    return rank === 1 ? new NoRoom(path, rank, [0, 1]) : new SharedMemory(path, rank, [0, 1]);
  });
  const sums = await every(groups, (group) => group.allReduce(new Float32Array(large).fill(group.rank + 1), 'sum'));
  for (const sum of sums) expectSameBits(sum, new Float32Array(large).fill(3));
  // What rank 0 had reserved was given back.
  expect((await stat(join(below, 'collective-0.bin'))).size).toBe(0);
});

class NoRoom extends SharedMemory {
  override reserve(bytes: number): boolean {
    super.reserve(bytes);
    return false;
  }
}

it('fails all ranks when they disagree on a large array, told who called what', async () => {
  const groups = sharing(2);
  const settled = await Promise.allSettled([
    groups[0].allReduce(new Float32Array(large), 'sum'),
    groups[1].allReduce(new Float32Array(large), 'max'),
  ]);
  for (const outcome of settled) {
    expect(String(outcome.status === 'rejected' && outcome.reason)).toContain(
      `rank 0 called all-reduce(sum) of float32[${large}], sequence number 1 (written); rank 1 called all-reduce(max)`,
    );
  }
});

it('refuses a second large collective while one is under way', async () => {
  const groups = sharing(2);
  const first = every(groups, (group) => group.allReduce(new Float32Array(large), 'sum'));
  await expect(groups[0].allReduce(new Float32Array(large), 'sum')).rejects.toThrow(
    'await one collective before the next',
  );
  await first;
});

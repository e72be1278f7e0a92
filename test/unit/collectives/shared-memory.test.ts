import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type CollectiveCall, noSignals, type ReduceOperation } from '../../../core/protocol/wire/collectives.ts';
import { SharedMemory } from '../../../workers/collectives/memory/shared-memory.ts';
import { createInMemoryGroup, ranksOf, type TestGroup } from '../relay/in-memory-group.ts';
import { every, expectSameBits, thirds, useFolders } from './mapped.ts';
import { notMapped, notRun } from '../../environment/reasons.ts';

/** Slightly above the size that goes through the hub, and no multiple of any group's size. */
const large = 70_001;

const folders = useFolders();

/** Files that are mapped, and files that are read and written. */
const ways = [
  { how: 'mapped memory', mayMap: true },
  { how: 'files in /dev/shm', mayMap: false },
];

function sharing(
  worldSize: number,
  memoryOf = (below: string, rank: number) => new SharedMemory(below, rank, ranksOf(worldSize)),
) {
  return sharingWithRelay(worldSize, memoryOf).groups;
}

function sharingWithRelay(worldSize: number, memoryOf: (below: string, rank: number) => SharedMemory): TestGroup {
  const below = folders.next();
  return createInMemoryGroup(ranksOf(worldSize), {}, (rank) => memoryOf(below, rank));
}

function skipWhereNotMapped(mayMap: boolean): void {
  beforeEach(({ skip }) => skip(mayMap && notMapped !== null, String(notMapped)));
}

const worlds = [2, 3, 5].flatMap((worldSize) => ways.map((way) => ({ worldSize, ...way })));
describe.each(worlds)('$worldSize ranks that share $how', ({ worldSize, how, mayMap }) => {
  skipWhereNotMapped(mayMap);
  const told: string[] = [];
  const shared = () =>
    sharing(
      worldSize,
      (below, rank) =>
        new SharedMemory(below, rank, ranksOf(worldSize), { mayMap, tell: (message) => told.push(message) }),
    );

  it('announce it once each, and leave no named file', async () => {
    told.length = 0;
    const groups = shared();
    for (const length of [large, 2 * large]) {
      await every(groups, (group) => group.allReduce(new Float32Array(length), 'sum'));
    }
    expect(told).toEqual(ranksOf(worldSize).map(() => `Arrays of 256 KiB and more go through ${how}.`));
    expect(await folders.named()).toEqual([]);
  });

  it.each<ReduceOperation>(['sum', 'mean', 'min', 'max'])(
    'all-reduce(%s) to the same bits as the relay',
    async (operation) => {
      const relayed = await every(createInMemoryGroup(ranksOf(worldSize)).groups, (group) =>
        group.allReduce(thirds(group.rank, large), operation),
      );
      const reduced = await every(shared(), (group) => group.allReduce(thirds(group.rank, large), operation));
      for (const array of reduced) expectSameBits(array, relayed[0]);
      const inPlace = await every(shared(), (group) => {
        const array = thirds(group.rank, large);
        return group.allReduce(array, operation, array);
      });
      for (const array of inPlace) expectSameBits(array, relayed[0]);
    },
  );

  it('all-gather, broadcast and reduce-scatter like the relay', async () => {
    const groups = shared();
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

  it('all-gather and reduce-scatter to given places, of which the own array may be a part', async () => {
    const groups = shared();
    const length = large * worldSize;
    const gathered = await every(groups, async (group) => {
      const whole = new Float32Array(length);
      const own = whole.subarray(group.rank * large, (group.rank + 1) * large);
      own.set(thirds(group.rank, large));
      await group.allGather(own, [large], whole);
      return whole;
    });
    for (const whole of gathered)
      for (const rank of ranksOf(worldSize))
        expectSameBits(whole.slice(rank * large, (rank + 1) * large), thirds(rank, large));
    const slices = await every(groups, (group) => group.reduceScatter(thirds(group.rank, length), 'mean'));
    const places = await every(groups, async (group) => {
      const place = new Float32Array(large);
      const slice = await group.reduceScatter(thirds(group.rank, length), 'mean', place);
      expect(slice.buffer).toBe(place.buffer);
      return place;
    });
    places.forEach((place, rank) => expectSameBits(place, slices[rank]));
  });

  it('separate collectives that directly follow each other, with growing and shrinking arrays', async () => {
    const groups = shared();
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

it.skipIf(notMapped !== null)(`maps its files where supported${notRun(notMapped)}`, async () => {
  const memories: SharedMemory[] = [];
  const groups = sharing(2, (below, rank) => {
    memories[rank] = new SharedMemory(below, rank, [0, 1]);
    return memories[rank];
  });
  await every(groups, (group) => group.allReduce(new Float32Array(large), 'sum'));
  expect(memories.map(({ barrier }) => barrier !== null)).toEqual([true, true]);
});

it('uses the hub on all ranks when one has no room', async () => {
  let below = '';
  const groups = sharing(2, (path, rank) => {
    below = path;
    return rank === 1 ? new NoRoom(path, rank, [0, 1]) : new SharedMemory(path, rank, [0, 1]);
  });
  const sums = await every(groups, (group) => group.allReduce(new Float32Array(large).fill(group.rank + 1), 'sum'));
  for (const sum of sums) expectSameBits(sum, new Float32Array(large).fill(3));
  // Rank 0 released its reservation.
  expect((await stat(join(below, 'collective-0.bin'))).size).toBe(0);
});

class NoRoom extends SharedMemory {
  override reserve(bytes: number): boolean {
    super.reserve(bytes);
    return false;
  }
}

describe.each(ways)('with $how', ({ mayMap }) => {
  skipWhereNotMapped(mayMap);
  const pair = () => sharing(2, (below, rank) => new SharedMemory(below, rank, [0, 1], { mayMap }));

  it("fails all ranks when they disagree on a large array, naming each rank's call", async () => {
    const groups = pair();
    const settled = await Promise.allSettled([
      groups[0].allReduce(new Float32Array(large), 'sum'),
      groups[1].allReduce(new Float32Array(large), 'max'),
    ]);
    const stage = mayMap ? 'mapped' : 'written';
    for (const outcome of settled) {
      expect(String(outcome.status === 'rejected' && outcome.reason)).toContain(
        `rank 0 called all-reduce(sum) of float32[${large}], sequence number 1 (${stage}); rank ` +
          '1 called all-reduce(max)',
      );
    }
  });

  it('fails all ranks when a sum of integers overflows its type', async () => {
    // Only the first rank's slice overflows, so the other rank must learn of it.
    const array = new Int32Array(large).fill(2 ** 30, 1, 2);
    const settled = await Promise.allSettled(pair().map((group) => group.allReduce(array.slice(), 'sum')));
    for (const outcome of settled) {
      expect(String(outcome.status === 'rejected' && outcome.reason)).toContain('Element 1 adds up to 2147483648');
    }
  });

  it('fails a rank that waits for one that left', async () => {
    const { relay, groups } = sharingWithRelay(2, (below, rank) => new SharedMemory(below, rank, [0, 1], { mayMap }));
    await every(groups, (group) => group.allReduce(new Float32Array(large), 'sum'));
    const waiting = groups[0].allReduce(new Float32Array(large), 'sum');
    relay.rankLeft(1, 'it was killed');
    await expect(waiting).rejects.toThrow('Rank 1 left the group: it was killed.');
    await expect(groups[0].barrier()).rejects.toThrow('Rank 1 left the group: it was killed.');
  });

  it('merges signals after the hub answers, even if the result arrives earlier', async () => {
    const groups = pair();
    groups[1].signals = { controls: 3, halt: false };
    await every(groups, (group) => group.allReduce(new Float32Array(large), 'sum'));
    for (const group of groups) group.mark();
    for (const group of groups) expect(await group.agreed()).toEqual({ controls: 3, halt: false });
  });

  it('refuses a second large collective while one is pending', async () => {
    const groups = pair();
    const first = every(groups, (group) => group.allReduce(new Float32Array(large), 'sum'));
    await expect(groups[0].allReduce(new Float32Array(large), 'sum')).rejects.toThrow(
      'await one collective before the next',
    );
    await first;
  });
});

describe.skipIf(notMapped !== null)(
  `a rank that begins a collective in mapped memory and never finishes it${notRun(notMapped)}`,
  () => {
    const begun: CollectiveCall = {
      operation: 'all-reduce',
      reduce: 'sum',
      dataType: 'float32',
      shape: [large],
      root: null,
      distance: null,
      // The first collective reserves room.
      sequence: 2,
      stage: 'mapped',
    };
    const together = (stuck: number[][]): Promise<TestGroup> => {
      const below = folders.next();
      const options = { timeoutMs: () => 500, onStuck: (ranks: number[]) => void stuck.push(ranks) };
      const made = createInMemoryGroup(
        [0, 1],
        options,
        (rank) => new SharedMemory(below, rank, [0, 1], { timeoutMs: 500 }),
      );
      return every(made.groups, (group) => group.allReduce(new Float32Array(large), 'sum')).then(() => made);
    };

    it('is named, although the relay received a request from every rank', async () => {
      const stuck: number[][] = [];
      const { groups, workerChannels } = await together(stuck);
      const waiting = groups[0].allReduce(new Float32Array(large), 'sum');
      workerChannels[1].send({ kind: 'collective', phase: 'request', call: begun, signals: noSignals, data: null });
      const reason =
        'all-reduce(sum) of float32[70001], sequence number 2 (mapped), timed out after 500 ms: begun by ' +
        'all, never ended by rank 1. ' +
        'Rank 1 runs on cpu:1.';
      await expect(waiting).rejects.toThrow(reason);
      expect(stuck).toEqual([[1]]);
    });

    it('does not time out while the group is held', async () => {
      const stuck: number[][] = [];
      const { relay, groups, workerChannels } = await together(stuck);
      const received = vi.spyOn(relay, 'receive');
      const timesAsked = () =>
        received.mock.calls.filter(([, frame]) => frame.phase === 'request' && frame.call.stage === 'stuck').length;
      relay.hold();
      const waiting = groups[0].allReduce(new Float32Array(large), 'sum');
      workerChannels[1].send({ kind: 'collective', phase: 'request', call: begun, signals: noSignals, data: null });
      await expect.poll(() => timesAsked()).toBeGreaterThan(1);
      expect(stuck).toEqual([]);
      relay.release();
      await expect(waiting).rejects.toThrow('never ended by rank 1');
      expect(stuck).toEqual([[1]]);
    });
  },
);

import { describe, expect, it, vi } from 'vitest';
import { noSignals, type ReduceOperation } from '../../../core/protocol/wire/collectives.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { type CommonMemory, SharedMemory } from '../../../workers/collectives/memory/shared-memory.ts';
import type { MappedSlots } from '../../../workers/collectives/memory/mapped-slots.ts';
import { createInMemoryGroup, ranksOf, type TestGroup } from '../relay/in-memory-group.ts';
import { every, expectSameBits, thirds, useFolders } from './mapped.ts';
import { notMapped, notRun } from '../../environment/reasons.ts';

const folders = useFolders();
/** No multiple of any group's size. */
const length = 1001;

interface Made extends TestGroup {
  /** Stages of the requests that the relay received since the ranks share slots. */
  received: string[];
}

/** Ranks whose small arrays go through memory. */
async function sharingSlots(
  worldSize: number,
  timeoutMs = 10_000,
  memoryOf = (folder: string, rank: number) => new SharedMemory(folder, rank, ranksOf(worldSize)),
): Promise<Made> {
  const folder = folders.next();
  const ranks = ranksOf(worldSize);
  const made = createInMemoryGroup(ranks, { timeoutMs: () => timeoutMs }, (rank) => memoryOf(folder, rank));
  await every(made.groups, (group) => group.mapSlots());
  const received: string[] = [];
  const receive = made.relay.receive.bind(made.relay);
  vi.spyOn(made.relay, 'receive').mockImplementation((rank, frame) => {
    if (frame.phase === 'request') received.push(`${rank} ${frame.call.stage}`);
    receive(rank, frame);
  });
  return { ...made, received };
}

const hexOf = (array: Float32Array | Uint16Array | null): string | null =>
  array === null ? null : Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('hex');

const reasons = async (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).map((outcome) =>
    outcome.status === 'rejected' ? (outcome.reason as Error).message : 'no error',
  );

describe.skipIf(notMapped !== null)(`small arrays in memory${notRun(notMapped)}`, () => {
  describe.each([2, 3, 5])('of %i ranks', (worldSize) => {
    const compared = async <T>(call: (group: ProcessGroup) => Promise<T>): Promise<[T[], T[]]> => {
      const { groups, received } = await sharingSlots(worldSize);
      const through = await every(groups, call);
      expect(received).toEqual([]);
      return [through, await every(createInMemoryGroup(ranksOf(worldSize)).groups, call)];
    };

    it.each<ReduceOperation>(['sum', 'mean', 'min', 'max'])(
      "are all-reduced(%s) to the same bits as the relay's",
      async (operation) => {
        const [reduced, relayed] = await compared((group) => group.allReduce(thirds(group.rank, length), operation));
        for (const array of reduced) expectSameBits(array, relayed[0]);
      },
    );

    it('are written into the given arrays', async () => {
      const { groups } = await sharingSlots(worldSize);
      const sum = ranksOf(worldSize).reduce((total, rank) => total + rank, 0);
      await every(groups, async (group) => {
        const own = Float32Array.of(group.rank, 1);
        expect(await group.allReduce(own, 'sum', own)).toBe(own);
        expect([...own]).toEqual([sum, worldSize]);
        const whole = new Int32Array(worldSize);
        await group.allGather(Int32Array.of(7 * group.rank), [1], whole);
        expect([...whole]).toEqual(ranksOf(worldSize).map((rank) => 7 * rank));
      });
    });

    it.each<[string, (group: ProcessGroup) => Promise<Float32Array | Uint16Array | null>]>([
      ['bfloat16 sums', (group) => group.allReduce(Uint16Array.of(0x3f80, 0x4049), 'sum')],
      ['a broadcast', (group) => group.broadcast(thirds(group.rank, length), worldSize - 1)],
      ['a reduce-scatter', (group) => group.reduceScatter(thirds(group.rank, worldSize * 9), 'mean')],
      ['a shift', (group) => group.shift(thirds(group.rank, length), 1, group.rank !== 2)],
    ])('%s equal those of the relay', async (_what, call) => {
      const [through, relayed] = await compared(call);
      expect(through.map(hexOf)).toEqual(relayed.map(hexOf));
    });

    it('stay separate when more are pending than there are slots, with large ones in between', async () => {
      const { groups } = await sharingSlots(worldSize);
      await every(groups, async (group) => {
        const large = group.allReduce(new Float32Array(70_001).fill(group.rank), 'max');
        const gathered = Array.from({ length: 11 }, (_, turn) =>
          group.allGather(Int32Array.of(100 * turn + group.rank)),
        );
        const barrier = group.barrier();
        for (const [turn, arrays] of (await Promise.all(gathered)).entries()) {
          expect(arrays.map(([value]) => value)).toEqual(ranksOf(worldSize).map((rank) => 100 * turn + rank));
        }
        await barrier;
        expectSameBits(await large, new Float32Array(70_001).fill(worldSize - 1));
      });
    });

    it.each([true, false])('carry the signals of all ranks, halt: %s', async (halt) => {
      const { groups } = await sharingSlots(worldSize);
      groups[1].signals = { controls: 3, halt };
      await every(groups, async (group) => {
        const late = group.allGather(Uint8Array.of(1));
        group.mark();
        expect(await group.agreed()).toEqual({ controls: 3, halt });
        await late;
      });
    });
  });

  it('use files without a name', async () => {
    await sharingSlots(3);
    expect(await folders.named()).toEqual([]);
  });

  it.each([
    [
      'cannot map files',
      (folder: string, rank: number) => new SharedMemory(folder, rank, [0, 1, 2], { mayMap: rank !== 1 }),
    ],
    [
      'has no room',
      (folder: string, rank: number) =>
        rank === 0 ? new NoRoom(folder, 0, [0, 1, 2]) : new SharedMemory(folder, rank, [0, 1, 2]),
    ],
  ])('use the hub on all ranks when one %s', async (_why, memoryOf) => {
    const { groups, received } = await sharingSlots(3, 10_000, memoryOf);
    const sums = await every(groups, (group) => group.allReduce(Float32Array.of(group.rank), 'sum'));
    expect(sums.map(([sum]) => sum)).toEqual([3, 3, 3]);
    expect(received.toSorted()).toEqual(['0 whole', '1 whole', '2 whole']);
    expect(await folders.named()).toEqual([]);
  });
});

class NoRoom extends SharedMemory {
  override async createSlotFile(): Promise<CommonMemory<MappedSlots> | null> {
    (await super.createSlotFile())?.unlink();
    return null;
  }
}

describe.skipIf(notMapped !== null)(`with small arrays in memory a group fails${notRun(notMapped)}`, () => {
  it.each<
    [string, string, (group: ProcessGroup) => Promise<unknown>, string, (group: ProcessGroup) => Promise<unknown>]
  >([
    [
      'small arrays',
      'all-gather of float32[1], sequence number 4 (awaited)',
      (group) => group.allGather(Float32Array.of(1)),
      'all-gather of float32[2], sequence number 4 (awaited)',
      (group) => group.allGather(Float32Array.of(1, 2)),
    ],
    [
      'a small and a large array',
      'barrier, sequence number 4 (awaited)',
      (group) => group.barrier(),
      'all-gather of float32[70001], sequence number 4 (mapped)',
      (group) => group.allGather(new Float32Array(70_001)),
    ],
  ])(
    "immediately when ranks disagree on %s, naming each rank's call",
    async (_what, first, callFirst, second, callSecond) => {
      const { groups } = await sharingSlots(2);
      await every(groups, (group) => group.allGather(new Float32Array(70_001)));
      const messages = await reasons([callFirst(groups[0]), callSecond(groups[1])]);
      for (const message of messages) {
        expect(message).toContain('The ranks disagree');
        expect(message).toContain(`rank 0 called ${first}`);
        expect(message).toContain(`rank 1 called ${second}`);
      }
      expect(await reasons(groups.map((group) => group.barrier()))).toEqual([
        expect.stringContaining('The ranks disagree'),
        expect.stringContaining('The ranks disagree'),
      ]);
    },
  );

  it('when one rank never calls, and names it', async () => {
    const { groups } = await sharingSlots(3, 300);
    const calls = [groups[0], groups[2]].map((group) => group.barrier());
    for (const message of await reasons(calls)) {
      expect(message).toContain('timed out after 300 ms: called by ranks 0, 2, never by rank 1. Rank 1 runs on cpu:1.');
    }
  });

  it('when one rank leaves', async () => {
    const { relay, groups } = await sharingSlots(2);
    const waiting = [groups[0].barrier(), groups[0].barrier()];
    relay.rankLeft(1, 'it was killed');
    for (const message of await reasons(waiting)) expect(message).toContain('Rank 1 left the group: it was killed.');
  });

  it('on all ranks when their arrays cannot be combined', async () => {
    const { groups } = await sharingSlots(2);
    for (const message of await reasons(groups.map((group) => group.allReduce(Int32Array.of(1, 2 ** 30), 'sum')))) {
      expect(message).toContain('Element 1 adds up to 2147483648, which int32 cannot hold; send float64 instead.');
    }
  });

  it('except when one is merely late: the early ranks withdraw their reports to the relay', async () => {
    const { groups, received } = await sharingSlots(3);
    const early = [groups[0], groups[2]].map((group) => group.allGather(Int32Array.of(group.rank)));
    await expect.poll(() => received.length).toBe(2);
    await groups[1].allGather(Int32Array.of(1));
    await Promise.all(early);
    await expect.poll(() => received.toSorted()).toEqual(['0 awaited', '0 withdrawn', '2 awaited', '2 withdrawn']);
    expect((await every(groups, (group) => group.allGather(new Float32Array(70_001)))).length).toBe(3);
  });
});

it('a group of one needs no memory', async () => {
  const { groups } = createInMemoryGroup([0], {}, () => new SharedMemory(folders.next(), 0, [0]));
  await groups[0].mapSlots();
  groups[0].signals = noSignals;
  expect([...(await groups[0].allReduce(Float32Array.of(2), 'mean'))]).toEqual([2]);
});

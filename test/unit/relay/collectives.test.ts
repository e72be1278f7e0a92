import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import { listen } from '../../../src-main/relay/socket-server.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { connect } from '../../../workers/collectives/socket-channel.ts';
import { createInMemoryGroup, createRelay, join, ranksOf, serve } from './in-memory-group.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Process groups over node-ipc sockets. The first message identifies a rank. */
async function createSocketGroup(ranks: readonly number[]): Promise<ProcessGroup[]> {
  const folder = await mkdtemp(joinPath(tmpdir(), 'tutti-relay-'));
  cleanups.push(async () => await rm(folder, { recursive: true }));
  const socket = joinPath(folder, 'hub.sock');
  const server = await listen(socket);
  cleanups.push(async () => await server.close());
  const relay = createRelay(ranks);
  server.onConnection((channel: Channel) => {
    channel.onFrame((frame) => {
      if (frame.kind === 'message') serve(relay, Number(frame.message), channel);
    });
  });
  const connectRank = async (rank: number): Promise<ProcessGroup> => {
    const channel = await connect(socket, 5000);
    channel.send({ kind: 'message', message: rank, arrays: [] });
    return join(rank, ranks, channel);
  };
  return await Promise.all(ranks.map(connectRank));
}

const transports = [
  {
    transport: 'in memory',
    create: async (ranks: number[]) => await Promise.resolve(createInMemoryGroup(ranks).groups),
  },
  { transport: 'over node-ipc sockets', create: createSocketGroup },
];

const bytesOf = (array: Float32Array): Buffer => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

async function everyRank<T>(
  groups: ProcessGroup[],
  call: (group: ProcessGroup, index: number) => Promise<T>,
): Promise<T[]> {
  return await Promise.all(groups.map(call));
}

describe.each(transports)('collectives $transport', ({ create }) => {
  // Rank r sends [r + 1, 10 r]; M ranks add up to [M (M + 1) / 2, 10 M (M - 1) / 2].
  const values = (rank: number): number[] => [rank + 1, 10 * rank];
  const cases = [
    { worldSize: 1, sum: [1, 0], mean: [1, 0], max: [1, 0] },
    { worldSize: 2, sum: [3, 10], mean: [1.5, 5], max: [2, 10] },
    { worldSize: 3, sum: [6, 30], mean: [2, 10], max: [3, 20] },
    { worldSize: 4, sum: [10, 60], mean: [2.5, 15], max: [4, 30] },
  ];

  it.each(cases)('reduce to hand-computed values with $worldSize ranks', async ({ worldSize, sum, mean, max }) => {
    const groups = await create(ranksOf(worldSize));
    const all = <T>(value: T): T[] => groups.map(() => value);
    for (const type of [Float32Array, Float64Array] as const) {
      const reduce = async (operation: 'sum' | 'mean' | 'min' | 'max') =>
        await everyRank(groups, async (group) => await group.allReduce(type.from(values(group.rank)), operation));
      expect(await reduce('sum')).toStrictEqual(all(type.from(sum)));
      expect(await reduce('mean')).toStrictEqual(all(type.from(mean)));
      expect(await reduce('max')).toStrictEqual(all(type.from(max)));
      expect(await reduce('min')).toStrictEqual(all(type.from([1, 0])));
    }
    for (const type of [Int32Array, Uint8Array] as const) {
      const reduced = await everyRank(
        groups,
        async (group) => await group.allReduce(type.from(values(group.rank)), 'sum'),
      );
      expect(reduced).toStrictEqual(all(type.from(sum)));
    }
  });

  it.each(cases)('gather, scatter and shift with $worldSize ranks', async ({ worldSize }) => {
    const groups = await create(ranksOf(worldSize));
    const everyArray = ranksOf(worldSize).map((rank) => Int32Array.from(values(rank)));
    const gathered = await everyRank(
      groups,
      async (group) => await group.allGather(Int32Array.from(values(group.rank))),
    );
    expect(gathered).toStrictEqual(groups.map(() => everyArray));

    // Every rank sends [0, 1, ..., 2 M - 1]; slice i of the sum is M [2 i, 2 i + 1].
    const counting = (): Float32Array => Float32Array.from(ranksOf(2 * worldSize));
    const scattered = await everyRank(groups, async (group) => await group.reduceScatter(counting(), 'sum'));
    expect(scattered).toStrictEqual(
      groups.map((_, i) => new Float32Array([2 * i * worldSize, (2 * i + 1) * worldSize])),
    );

    const root = worldSize - 1;
    const spread = await everyRank(
      groups,
      async (group) => await group.broadcast(Uint8Array.from([group.rank, 7]), root),
    );
    expect(spread).toStrictEqual(groups.map(() => new Uint8Array([root, 7])));

    // Ranks of even position send theirs one place down. No rank is one place above an odd one.
    const moved = await everyRank(
      groups,
      async (group) => await group.shift(Uint8Array.of(group.rank), 1, group.rank % 2 === 0),
    );
    expect(moved).toStrictEqual(
      groups.map((_, rank) => (rank % 2 === 1 && rank + 1 < worldSize ? Uint8Array.of(rank + 1) : null)),
    );
    await everyRank(groups, async (group) => await group.barrier());
    expect(groups.map((group) => group.statistics.count)).toStrictEqual(groups.map(() => 5));
  });

  it('carry NaN and infinities: sums and extremes keep NaN, and gathered bits stay the same', async () => {
    const groups = await create([0, 1]);
    const sent = [new Float32Array([NaN, Infinity, 1]), new Float32Array([2, -Infinity, NaN])];
    const reduce = async (operation: 'sum' | 'min' | 'max') =>
      (await everyRank(groups, async (group) => await group.allReduce(sent[group.rank], operation)))[1];
    expect(await reduce('sum')).toStrictEqual(new Float32Array([NaN, NaN, NaN]));
    expect(await reduce('min')).toStrictEqual(new Float32Array([NaN, -Infinity, NaN]));
    expect(await reduce('max')).toStrictEqual(new Float32Array([NaN, Infinity, NaN]));

    const payload = new Float32Array(new Uint32Array([0x7fc12345, 0xffc54321]).buffer);
    const [, second] = await everyRank(groups, async (group) => await group.allGather(payload));
    expect([...new Uint32Array(second[0].slice().buffer)]).toStrictEqual([0x7fc12345, 0xffc54321]);
  });

  it('handle several calls at once, and a group whose ranks do not start at 0', async () => {
    const groups = await create([5, 9]);
    const both = await everyRank(
      groups,
      async (group) =>
        await Promise.all([
          group.allReduce(Int32Array.of(group.rank), 'sum'),
          group.broadcast(Int32Array.of(group.rank), 9),
        ]),
    );
    expect(both).toStrictEqual([0, 1].map(() => [Int32Array.of(14), Int32Array.of(9)]));
  });
});

describe('large arrays over sockets', () => {
  it('of 40 MB arrive complete', async () => {
    const groups = await createSocketGroup([0, 1]);
    const length = 10 * 2 ** 20;
    const arrays = groups.map((group) => Float32Array.from({ length }, (_, index) => (index % 1000) + group.rank));
    const results = await everyRank(groups, async (group, index) => await group.allReduce(arrays[index], 'sum'));
    const expected = Float32Array.from({ length }, (_, index) => 2 * (index % 1000) + 1);
    for (const result of results) expect(bytesOf(result).equals(bytesOf(expected))).toBe(true);
  });
});

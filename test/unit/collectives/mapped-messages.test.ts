import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { SharedMemory } from '../../../workers/collectives/memory/shared-memory.ts';
import { notMapped, notRun } from '../../environment/reasons.ts';
import { createInMemoryGroup, ranksOf, type TestGroup } from '../relay/in-memory-group.ts';
import { every, expectSameBits, thirds, useFolders } from './mapped.ts';

/** Whether the folder has room for larger files. */
const growth = vi.hoisted(() => ({ isPossible: true }));
vi.mock(import('../../../workers/collectives/memory/rank-files.ts'), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, growFile: (...args) => growth.isPossible && original.growFile(...args) };
});

const folders = useFolders();

interface Made extends TestGroup {
  /** Requests that the relay received since the ranks share memory. */
  received: string[];
}

/** Ranks whose messages go through memory. */
async function sharing(
  worldSize: number,
  timeoutMs = 10_000,
  memoryOf = (folder: string, rank: number) => new SharedMemory(folder, rank, ranksOf(worldSize)),
): Promise<Made> {
  const folder = folders.next();
  const made = createInMemoryGroup(ranksOf(worldSize), { timeoutMs: () => timeoutMs }, (rank) =>
    memoryOf(folder, rank),
  );
  await every(made.groups, (group) => group.mapMessages());
  const received: string[] = [];
  const receive = made.relay.receive.bind(made.relay);
  vi.spyOn(made.relay, 'receive').mockImplementation((rank, frame) => {
    if (frame.phase === 'request') received.push(`${rank} ${frame.call.operation} ${frame.call.stage}`);
    receive(rank, frame);
  });
  return { ...made, received };
}

describe.skipIf(notMapped !== null)(`messages in memory${notRun(notMapped)}`, () => {
  it('arrive in the order in which each rank sent them, with their types, shapes and bits', async () => {
    const { groups, received } = await sharing(3);
    groups[0].send(Float32Array.of(1.5, Number.NaN), 2);
    groups[1].send(Int32Array.of(7), 2);
    groups[0].send(Float64Array.of(Math.PI, 1, 2, 3), 2, [2, 2]);
    groups[0].send(new Uint8Array(0), 2);
    expect(await groups[2].receiveFrom(1)).toEqual({ data: Int32Array.of(7), shape: [1] });
    expect(await groups[2].receiveFrom(0)).toEqual({ data: Float32Array.of(1.5, Number.NaN), shape: [2] });
    expect(await groups[2].receiveFrom(0)).toEqual({ data: Float64Array.of(Math.PI, 1, 2, 3), shape: [2, 2] });
    expect(await groups[2].receiveFrom(0)).toEqual({ data: new Uint8Array(0), shape: [0] });
    expect(received).toEqual([]);
    expect(await folders.named()).toEqual([]);
  });

  // Rings hold 256 KiB at first: these sizes wrap around, fill them, and ask for larger ones.
  const sizes = fc.array(fc.oneof(fc.nat(50), fc.integer({ min: 10_000, max: 40_000 }), fc.constant(200_000)), {
    minLength: 1,
    maxLength: 24,
  });

  it('keep their bits and order in rings that wrap around and grow, whenever they are read', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(6), async (lengths, ahead) => {
        const { groups, received } = await sharing(2);
        for (const [i, length] of lengths.entries()) {
          groups[0].send(thirds(i, length), 1);
          if (i >= ahead) expectSameBits((await groups[1].receiveFrom(0)).data, thirds(i - ahead, lengths[i - ahead]));
        }
        for (let i = Math.max(0, lengths.length - ahead); i < lengths.length; i++) {
          expectSameBits((await groups[1].receiveFrom(0)).data, thirds(i, lengths[i]));
        }
        expect(received).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('go through the hub where they find no room, in their order', async () => {
    const { groups, received } = await sharing(2);
    const lengths = [5, 200_000, 5, 300_000, 7, 200_000];
    for (const [i, length] of lengths.entries()) {
      // The first message makes a ring, the last one a larger one; the second and the fourth fit in none.
      growth.isPossible = i === 0 || i === 5;
      groups[0].send(thirds(i, length), 1);
    }
    for (const [i, length] of lengths.entries()) {
      expectSameBits((await groups[1].receiveFrom(0)).data, thirds(i, length));
    }
    expect(received).toEqual(['0 send whole', '0 send whole']);
  });

  it('go through the hub on all ranks when one cannot map files', async () => {
    const { groups, received } = await sharing(
      3,
      10_000,
      (folder, rank) => new SharedMemory(folder, rank, ranksOf(3), { mayMap: rank !== 1 }),
    );
    groups[0].send(Float32Array.of(3), 2);
    expect((await groups[2].receiveFrom(0)).data).toEqual(Float32Array.of(3));
    expect(received).toEqual(['0 send whole']);
    expect(await folders.named()).toEqual([]);
  });

  it('that are late are reported to the relay while a rank waits, and taken when they come', async () => {
    const { groups, received } = await sharing(2);
    const waiting = groups[1].receiveFrom(0);
    await expect.poll(() => received).toEqual(['1 receive awaited']);
    groups[0].send(Float32Array.of(3), 1);
    expect((await waiting).data).toEqual(Float32Array.of(3));
    await expect.poll(() => received).toEqual(['1 receive awaited', '1 receive withdrawn']);
  });

  it('fail with the group when a rank leaves', async () => {
    const { groups, relay } = await sharing(3);
    groups[0].send(Float32Array.of(5), 1);
    const waiting = [groups[1].receiveFrom(2), groups[2].receiveFrom(0)];
    relay.rankLeft(0, 'it was killed');
    for (const wait of waiting) await expect(wait).rejects.toThrow('Rank 0 left the group: it was killed.');
    // What came before is still there, as through the hub.
    expect((await groups[1].receiveFrom(0)).data).toEqual(Float32Array.of(5));
    expect(() => groups[1].send(Float32Array.of(1), 2)).toThrow('it was killed');
  });

  it('that never come end the group with the rank at the end of the chain of waits', async () => {
    const { groups } = await sharing(3, 300);
    // Rank 2 waits for 1, which waits for 0, which computes for ever.
    const waits = [groups[2].receiveFrom(1), groups[1].receiveFrom(0)];
    for (const wait of waits) await expect(wait).rejects.toThrow('rank 0 never sent what others wait for');
  });
});

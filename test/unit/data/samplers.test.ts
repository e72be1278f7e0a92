import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SamplerKind } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { createSampler, shard } from '../../../workers/data/samplers.ts';
import type { SamplerOptions } from '../../../workers/data/samplers.ts';

function options(kind: SamplerKind, changes: Partial<SamplerOptions> = {}): SamplerOptions {
  return { kind, length: 10, batchSize: 4, dropLast: false, seed: 5, sharedSeed: 1, rank: 0, worldSize: 2, ...changes };
}

function orderOf(kind: SamplerKind, epoch: number, changes: Partial<SamplerOptions> = {}): number[] {
  return [...createSampler(options(kind, changes)).batches(epoch)].flatMap((batch) => [...batch]);
}

const ascending = (values: number[]) => values.toSorted((a, b) => a - b);
const upTo = (length: number) => Array.from({ length }, (_, i) => i);

describe("sharding follows PyTorch's DistributedSampler (shuffle=False)", () => {
  // Derived by hand from torch/utils/data/distributed.py: pad by wrapping (or drop the tail), then [rank::worldSize].
  it.each([
    {
      length: 10,
      worldSize: 3,
      padded: true,
      expected: [
        [0, 3, 6, 9],
        [1, 4, 7, 0],
        [2, 5, 8, 1],
      ],
    },
    {
      length: 10,
      worldSize: 3,
      padded: false,
      expected: [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8],
      ],
    },
    {
      length: 4,
      worldSize: 2,
      padded: true,
      expected: [
        [0, 2],
        [1, 3],
      ],
    },
    {
      length: 4,
      worldSize: 2,
      padded: false,
      expected: [
        [0, 2],
        [1, 3],
      ],
    },
    { length: 2, worldSize: 5, padded: true, expected: [[0], [1], [0], [1], [0]] },
    { length: 3, worldSize: 8, padded: true, expected: [[0], [1], [2], [0], [1], [2], [0], [1]] },
  ])('$length samples over $worldSize ranks, padded: $padded', ({ length, worldSize, padded, expected }) => {
    const order = Int32Array.from(upTo(length));
    expect(expected.map((_, rank) => [...shard(order, rank, worldSize, padded ? 'padded' : 'dropped')])).toEqual(
      expected,
    );
  });
});

describe('createSampler', () => {
  it('splits an order into batches, with the last one smaller or dropped', () => {
    const whole = createSampler(options('sequential'));
    expect([...whole.batches(0)].map((batch) => [...batch])).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
    expect(whole.batchesPerEpoch).toBe(3);
    const dropping = createSampler(options('sequential', { dropLast: true }));
    expect([...dropping.batches(0)].map((batch) => [...batch])).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    expect(dropping.batchesPerEpoch).toBe(2);
  });

  it('shuffled: a different permutation per rank and per epoch', () => {
    const first = orderOf('shuffled', 0, { length: 100 });
    expect(ascending(first)).toEqual(upTo(100));
    expect(orderOf('shuffled', 1, { length: 100 })).not.toEqual(first);
    expect(orderOf('shuffled', 0, { length: 100, seed: 6 })).not.toEqual(first);
  });

  it('shared: one permutation for all ranks, different per epoch', () => {
    const first = orderOf('shared', 0, { length: 100 });
    expect(ascending(first)).toEqual(upTo(100));
    expect(orderOf('shared', 0, { length: 100, seed: 6, rank: 1 })).toEqual(first);
    expect(orderOf('shared', 1, { length: 100 })).not.toEqual(first);
  });

  it('sharded: each rank gets its share of the shared order', () => {
    const shared = orderOf('shared', 3, { length: 5 });
    expect(orderOf('sharded', 3, { length: 5, rank: 0 })).toEqual([shared[0], shared[2], shared[4]]);
    expect(orderOf('sharded', 3, { length: 5, rank: 1 })).toEqual([shared[1], shared[3], shared[0]]);
    expect(orderOf('sharded-drop', 3, { length: 5, rank: 0 })).toEqual([shared[0], shared[2]]);
    expect(orderOf('sharded-drop', 3, { length: 5, rank: 1 })).toEqual([shared[1], shared[3]]);
  });

  it('depends only on seed and epoch: a new sampler repeats an epoch', () => {
    for (const kind of ['shuffled', 'shared', 'sharded', 'sharded-drop', 'sequential'] as const) {
      const sampler = createSampler(options(kind));
      const [, ...later] = [0, 1, 2].map((epoch) => [...sampler.batches(epoch)]);
      expect([...createSampler(options(kind)).batches(2)]).toEqual(later[1]);
    }
  });

  it('shards cover every sample, have equal sizes, and repeat less than one round', () => {
    const cases = fc.record({ length: fc.integer({ min: 1, max: 50 }), worldSize: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(cases, ({ length, worldSize }) => {
        const shares = upTo(worldSize).map((rank) => orderOf('sharded', 0, { length, worldSize, rank }));
        expect(new Set(shares.map((share) => share.length)).size).toBe(1);
        expect(new Set(shares.flat()).size).toBe(length);
        expect(shares.flat().length).toBeLessThan(length + worldSize);
      }),
    );
  });

  it.each([
    [{ batchSize: 0 }, 'batchSize is 0'],
    [{ length: 0 }, 'length is 0'],
    [{ rank: 2 }, 'rank is 2; with a world size of 2'],
    [{ batchSize: 11, dropLast: true }, 'leaves rank 0 without a batch: 10 of 10 samples'],
    [{ kind: 'sharded-drop' as const, length: 1 }, 'leaves rank 0 without a batch: 0 of 1 samples'],
  ])('refuses %j', (changes, message) => {
    expect(() => createSampler(options('shuffled', changes))).toThrow(message);
  });
});

describe('an uneven split', () => {
  it('gives every sample to one rank and all ranks the same number of batches, the last of them smaller or empty', () => {
    const sizes = [0, 1, 2].map((rank) =>
      [...createSampler(options('sharded-uneven', { length: 7, batchSize: 2, rank, worldSize: 3 })).batches(0)].map(
        (batch) => batch.length,
      ),
    );
    expect(sizes).toEqual([
      [2, 1],
      [2, 0],
      [2, 0],
    ]);
    const dealt = [0, 1, 2].flatMap((rank) =>
      orderOf('sharded-uneven', 0, { length: 7, batchSize: 2, rank, worldSize: 3 }),
    );
    expect(ascending(dealt)).toEqual(upTo(7));
  });

  it('drops, on request, every batch that is not full on all ranks', () => {
    const full = [0, 1, 2].map((rank) =>
      orderOf('sharded-uneven', 0, { length: 11, batchSize: 2, dropLast: true, rank, worldSize: 3 }),
    );
    expect(full.map((order) => order.length)).toEqual([2, 2, 2]);
  });

  it('takes in each step the samples of one worker with the batches of all', () => {
    const batchOf = (batchSize: number, rank: number, worldSize: number, index: number) => [
      ...[...createSampler(options('sharded-uneven', { length: 11, batchSize, rank, worldSize })).batches(3)][index],
    ];
    for (const index of [0, 1]) {
      const together = [0, 1, 2].flatMap((rank) => batchOf(2, rank, 3, index));
      expect(ascending(together)).toEqual(ascending(batchOf(6, 0, 1, index)));
    }
  });
});

describe('bagging', () => {
  const sample = (rank: number, epoch: number) => {
    const about = options('shuffled', { length: 500, batchSize: 64, rank, worldSize: 2 });
    return [...createSampler({ ...about, seed: 10 + rank, bagging: true }).batches(epoch)].flatMap((batch) => [
      ...batch,
    ]);
  };

  it('draws as many samples as there are, with replacement, the same in each epoch', () => {
    expect(sample(0, 0)).toHaveLength(500);
    expect(ascending(sample(0, 0))).toEqual(ascending(sample(0, 3)));
    expect(sample(0, 0)).not.toEqual(sample(0, 3));
    // 1 − 1/e of the samples are drawn.
    expect(new Set(sample(0, 0)).size / 500).toBeCloseTo(0.632, 1);
  });

  it('draws groups as a whole, also of the rows that a rank trains on', () => {
    // Row r belongs to group r mod 50; the rank trains on the even rows: 25 groups of 10.
    const groups = Int32Array.from({ length: 500 }, (_, row) => row % 50);
    const rows = Int32Array.from({ length: 250 }, (_, place) => 2 * place);
    const about = options('shuffled', { length: 250, batchSize: 250, rank: 0, worldSize: 2 });
    const [drawn] = createSampler({ ...about, bagging: true, rows, groups }).batches(0);
    expect(drawn).toHaveLength(250);
    const times = Map.groupBy(drawn, (row) => row);
    for (const [row, own] of times) {
      for (let other = row % 50; other < 500; other += 50) expect(times.get(other)?.length).toBe(own.length);
    }
    expect(drawn.every((row) => row % 2 === 0)).toBe(true);
    expect(new Set(drawn).size).toBeLessThan(250);
  });

  it('draws other samples for each rank', () => {
    expect(ascending(sample(0, 0))).not.toEqual(ascending(sample(1, 0)));
  });
});

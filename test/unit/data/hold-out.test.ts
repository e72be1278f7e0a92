import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { holdOutOf, rowsHeldOutBy, withHoldOut } from '../../../workers/data/hold-out.ts';
import { createSampler } from '../../../workers/data/samplers.ts';

const configOf = (members: number, data: object) => runConfigSchema.parse({ members, data });
const ascending = (rows: Iterable<number>): number[] => [...rows].toSorted((a, b) => a - b);

/** Sample i has the feature i. */
const counting = (length: number) =>
  createDataset({
    name: 'counting',
    featureShape: [1],
    features: Float32Array.from({ length }, (_, i) => i),
    targets: Float32Array.from({ length }, (_, i) => -i),
  });

describe('overlapping hold-outs', () => {
  it('gives member i the chunks i and i + 1 of M, each of N·h/2 samples', () => {
    // Five chunks of 20 · 0.2 / 2 = 2 samples, of which members (i, i - 1) hold out chunk i.
    const held = holdOutOf(configOf(5, { holdOut: 0.2 }), 20);
    expect([...(held?.heldOutBy ?? [])].join('')).toBe('04040101121223233434');
    const held2 = held?.rows.slice(4, 8) ?? [];
    expect(ascending([...(held?.trainingRows(2) ?? []), ...held2])).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('trains each member on all samples but those that it is judged on', () => {
    const draws = fc.record({
      members: fc.integer({ min: 2, max: 7 }),
      length: fc.integer({ min: 30, max: 90 }),
      part: fc.integer({ min: 2, max: 10 }),
    });
    fc.assert(
      fc.property(draws, ({ members, length, part }) => {
        const holdOut = holdOutOf(configOf(members, { holdOut: (2 / members) * (part / 11) }), length);
        const { train, validation } = withHoldOut({ train: counting(length) }, holdOut);
        if (validation === undefined) throw new Error('There is no validation split.');
        expect(new Set(validation.features).size).toBe(validation.length);
        const held = Array.from({ length: members }, (_, rank) => rowsHeldOutBy(validation, rank) ?? []);
        expect(new Set(held.map((rows) => rows.length)).size).toBe(1);
        held.forEach((rows, rank) => {
          const own = Array.from(rows, (row) => validation.features[row]);
          expect(ascending([...own, ...(holdOut?.trainingRows(rank) ?? [])])).toEqual([...train.features]);
        });
        // Two members hold out each sample.
        expect(held.flatMap((rows) => [...rows])).toHaveLength(2 * validation.length);
      }),
      { seed: 5, numRuns: 40 },
    );
  });

  it('gives the sampler the rows of the rank, also for bagging', () => {
    const rows = Int32Array.of(3, 8, 9);
    const about = {
      kind: 'shuffled',
      batchSize: 2,
      dropLast: false,
      seed: 1,
      sharedSeed: 1,
      rank: 0,
      worldSize: 2,
    } as const;
    const drawn = (bagging: boolean) =>
      [...createSampler({ ...about, length: 3, rows, bagging }).batches(0)].flatMap((batch) => [...batch]);
    expect(ascending(drawn(false))).toEqual([3, 8, 9]);
    expect(drawn(true)).toHaveLength(3);
    expect(drawn(true).every((row) => rows.includes(row))).toBe(true);
  });

  it('refuses shares without samples, and a second validation split', () => {
    expect(() => holdOutOf(configOf(2, { holdOut: 0.01 }), 20)).toThrow(
      '2 chunks of 0, 2 by each rank. Hold out a larger',
    );
    const holdOut = holdOutOf(configOf(2, { holdOut: 0.2 }), 20);
    const splits = { train: counting(20), validation: counting(3) };
    expect(() => withHoldOut(splits, holdOut)).toThrow('but data() also returns the validation split "counting"');
    expect(withHoldOut(splits, null)).toBe(splits);
    expect(holdOutOf(configOf(2, {}), 20)).toBeNull();
  });
});

describe('a fold of each rank', () => {
  it('holds out every sample as often, but for a remainder', () => {
    // Three folds of three of eleven samples; ranks 0 and 3 hold out the first.
    const held = holdOutOf(configOf(6, { folds: 3, foldPerRank: true }), 11);
    expect([...(held?.heldOutBy ?? [])]).toEqual([0, 3, 0, 3, 0, 3, 1, 4, 1, 4, 1, 4, 2, 5, 2, 5, 2, 5]);
    expect(Array.from({ length: 6 }, (_, rank) => held?.trainingRows(rank).length)).toEqual([8, 8, 8, 8, 8, 8]);
    expect(held?.trainingRows(0)).toEqual(held?.trainingRows(3));
  });
});

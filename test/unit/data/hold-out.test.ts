import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunConfig, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset, type Dataset } from '../../../workers/data/dataset.ts';
import { holdOutOf, rowsHeldOutBy, withHoldOut } from '../../../workers/data/hold-out.ts';
import { windows } from '../../../workers/data/series/windows.ts';
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
    const held = holdOutOf(configOf(5, { holdOut: 0.2 }), counting(20));
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
        const holdOut = holdOutOf(configOf(members, { holdOut: (2 / members) * (part / 11) }), counting(length));
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
    expect(() => holdOutOf(configOf(2, { holdOut: 0.01 }), counting(20))).toThrow(
      '2 chunks of 0, 2 by each rank. Hold out a larger',
    );
    const holdOut = holdOutOf(configOf(2, { holdOut: 0.2 }), counting(20));
    const splits = { train: counting(20), validation: counting(3) };
    expect(() => withHoldOut(splits, holdOut)).toThrow('but data() also returns the validation split "counting"');
    expect(withHoldOut(splits, null)).toBe(splits);
    expect(holdOutOf(configOf(2, {}), counting(20))).toBeNull();
  });
});

describe('a fold of each rank', () => {
  it('holds out every sample as often, but for a remainder', () => {
    // Three folds of three of eleven samples; ranks 0 and 3 hold out the first.
    const held = holdOutOf(configOf(6, { folds: 3, foldPerRank: true }), counting(11));
    expect([...(held?.heldOutBy ?? [])]).toEqual([0, 3, 0, 3, 0, 3, 1, 4, 1, 4, 1, 4, 2, 5, 2, 5, 2, 5]);
    expect(Array.from({ length: 6 }, (_, rank) => held?.trainingRows(rank).length)).toEqual([8, 8, 8, 8, 8, 8]);
    expect(held?.trainingRows(0)).toEqual(held?.trainingRows(3));
  });
});

describe('samples that belong together', () => {
  const draws = fc.record({
    members: fc.integer({ min: 2, max: 5 }),
    length: fc.integer({ min: 60, max: 120 }),
    groups: fc.integer({ min: 20, max: 40 }),
    seed: fc.integer({ min: 0, max: 999 }),
    areFolds: fc.boolean(),
  });
  const dataOf = (areFolds: boolean, members: number) =>
    areFolds ? { folds: members, foldPerRank: true } : { holdOut: 1.2 / members };

  function heldAndTrained(train: Dataset, config: RunConfig, rank: number) {
    const holdOut = holdOutOf(config, train);
    const { validation } = withHoldOut({ train }, holdOut);
    if (holdOut === null || validation === undefined) throw new Error('Nothing is held out.');
    const held = Array.from(rowsHeldOutBy(validation, rank) ?? [], (row) => holdOut.rows[row]);
    return { held, trained: holdOut.trainingRows(rank) };
  }

  it('are never trained on by the rank that is judged on some of them', () => {
    fc.assert(
      fc.property(draws, ({ members, length, groups: count, seed, areFolds }) => {
        // Groups of very different sizes, the first of about √(1 / count) of the samples.
        const groups = Int32Array.from({ length }, (_, i) => Math.floor((((i * 31 + seed) % 97) / 97) ** 2 * count));
        const train = createDataset({ ...counting(length), groups });
        const config = runConfigSchema.parse({ members, seed, data: dataOf(areFolds, Math.min(members, 3)) });
        if (config.data.foldPerRank && members % config.data.folds !== 0) return;
        const lengths = new Set<number>();
        for (let rank = 0; rank < members; rank++) {
          const { held, trained } = heldAndTrained(train, config, rank);
          const judged = new Set(held.map((row) => groups[row]));
          expect(held.length).toBeGreaterThan(0);
          expect(trained.some((row) => judged.has(groups[row]))).toBe(false);
          lengths.add(trained.length);
        }
        expect(lengths.size).toBe(1);
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it('make labels of patients unlearnable that are random', () => {
    // 60 patients of ten samples with random labels: whoever knows a patient's other samples knows the label.
    const length = 600;
    const groups = Int32Array.from({ length }, (_, i) => i % 60);
    const known = (own?: Int32Array): number => {
      const train = createDataset({ ...counting(length), ...(own && { groups: own }) });
      const config = configOf(5, { folds: 5, foldPerRank: true });
      const shares = [0, 1, 2, 3, 4].map((rank) => {
        const { held, trained } = heldAndTrained(train, config, rank);
        expect([held.length, trained.length]).toEqual([120, 480]);
        const patients = new Set(Array.from(trained, (row) => groups[row]));
        return held.filter((row) => patients.has(groups[row])).length / held.length;
      });
      return Math.max(...shares);
    };
    expect(known()).toBeGreaterThan(0.99);
    expect(known(groups)).toBe(0);
  });

  it('gives ranks with fewer samples some of them twice', () => {
    // Folds {0 to 5}, {6, 7, 8}: rank 0 trains on three, rank 1 on six.
    const groups = Int32Array.of(0, 0, 0, 0, 0, 0, 1, 1, 2);
    const holdOut = holdOutOf(configOf(2, { folds: 2, foldPerRank: true }), createDataset({ ...counting(9), groups }));
    const [few, many] = [0, 1].map((rank) => [...(holdOut?.trainingRows(rank) ?? [])]);
    expect(few).toEqual([6, 7, 8, 6, 7, 8]);
    expect(many).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('have their strata in the same proportions in each chunk', () => {
    // A quarter of 80 samples is of stratum 1: five of the 20 of each fold, two of the 8 of each chunk of 80 · 0.2 / 2.
    const strata = Int32Array.from({ length: 80 }, (_, i) => Number(i % 4 === 0));
    const train = createDataset({ ...counting(80), strata });
    const ofStratum = (rows: number[]) => rows.filter((row) => strata[row] === 1).length;
    for (let rank = 0; rank < 4; rank++) {
      const { held } = heldAndTrained(train, configOf(4, { folds: 4, foldPerRank: true }), rank);
      expect([held.length, ofStratum(held)]).toEqual([20, 5]);
      const two = heldAndTrained(train, configOf(4, { holdOut: 0.2 }), rank).held;
      expect([two.length, ofStratum(two)]).toEqual([16, 4]);
    }
  });

  it('of a series: no window is trained on that shares a step with one that is judged', () => {
    fc.assert(
      fc.property(draws, fc.integer({ min: 1, max: 4 }), ({ members, length, areFolds }, horizon) => {
        const values = Float32Array.from({ length: length + 40 }, (_, step) => step);
        const train = windows({ name: 'load', values, length: 3, horizon });
        const config = configOf(members, dataOf(areFolds, members));
        const lengths = new Set<number>();
        for (let rank = 0; rank < members; rank++) {
          const { held, trained } = heldAndTrained(train, config, rank);
          const steps = (row: number) => Array.from({ length: 3 + horizon }, (_, step) => row + step);
          const judged = new Set(held.flatMap(steps));
          expect(Array.from(trained).some((row) => steps(row).some((step) => judged.has(step)))).toBe(false);
          lengths.add(trained.length);
        }
        expect(lengths.size).toBe(1);
      }),
      { seed: 9, numRuns: 40 },
    );
  });

  it('of a series: folds are blocks of time, with the windows between them left out', () => {
    // 12 windows of 2 steps and one target: window w covers steps w to w + 2.
    const train = windows({ name: 'load', values: new Float32Array(14), length: 2 });
    const config = configOf(3, { folds: 3, foldPerRank: true });
    expect(heldAndTrained(train, config, 1).held).toEqual([4, 5, 6, 7]);
    expect(new Set(heldAndTrained(train, config, 1).trained)).toEqual(new Set([0, 1, 10, 11]));
    expect(new Set(heldAndTrained(train, config, 0).trained)).toEqual(new Set([6, 7, 8, 9, 10, 11]));
  });

  it('are refused where they leave nothing to train or to judge on', () => {
    const config = configOf(3, { folds: 3, foldPerRank: true });
    const grouped = (groups: number[]) => createDataset({ ...counting(6), groups: Int32Array.from(groups) });
    expect(() => holdOutOf(config, grouped([0, 0, 0, 1, 1, 1]))).toThrow('lie in 2 groups, which stay together');
    const wide = windows({ name: 'load', values: new Float32Array(14), length: 9 });
    expect(() => holdOutOf(config, wide)).toThrow('Rank 0 has no sample of "load" left to train on');
    const both = createDataset({ ...grouped([0, 0, 1, 1, 2, 2]), strata: new Int32Array(6) });
    expect(() => holdOutOf(config, both)).toThrow('either stratified or grouped');
  });
});

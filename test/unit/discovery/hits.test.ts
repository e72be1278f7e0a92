import { expect, test } from 'vitest';
import { enrichmentFactor, expectedRandomHits, hitsFound, idealHits } from '../../../core/discovery/progress.ts';

const pool = { candidates: 1000, hits: 50, started: 100, hitsAtStart: 5 };

test('hits are counted in the order of the labels', () => {
  expect([...hitsFound([false, true, true, false])]).toEqual([0, 1, 2, 2]);
  expect([...hitsFound([])]).toEqual([]);
});

test('the ideal finds a hit with each label after the start, until there are no more', () => {
  expect([50, 100, 120, 145, 500].map((labels) => idealHits(labels, pool))).toEqual([5, 5, 25, 50, 50]);
});

test('random labels find hits in proportion', () => {
  expect([100, 550, 1000].map((labels) => expectedRandomHits(labels, pool))).toEqual([5, 27.5, 50]);
  expect(expectedRandomHits(3, { candidates: 3, hits: 2, started: 3, hitsAtStart: 2 })).toBe(2);
});

test('enrichment is the share of hits over that of the pool', () => {
  expect(enrichmentFactor(30, 200, pool)).toBeCloseTo(3, 12);
  expect(enrichmentFactor(0, 0, pool)).toBeNaN();
});

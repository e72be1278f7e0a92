import { describe, expect, it } from 'vitest';
import { Restarts } from '../../../src-main/runs/attempt/restarts.ts';

const policy = { kind: 'restart', maxRestarts: 3, backoffSeconds: 1, worldSize: 'fixed' } as const;

describe('restarts', () => {
  it('are limited in a row without progress; the first comes at once and waits double', () => {
    const restarts = new Restarts(policy);
    const given = [4, 4, 4, 4].map((round) => restarts.next(round));
    expect(given).toEqual([
      { count: 1, maxRestarts: 3, waitMs: 0 },
      { count: 2, maxRestarts: 3, waitMs: 1000 },
      { count: 3, maxRestarts: 3, waitMs: 2000 },
      null,
    ]);
  });

  it('count anew once the ranks restart from a newer state', () => {
    const restarts = new Restarts(policy);
    const counts = [null, null, 1, 1, 1, 5, 9, 13].map((round) => restarts.next(round)?.count);
    expect(counts).toEqual([1, 2, 1, 2, 3, 1, 1, 1]);
  });

  it('never wait longer than a minute', () => {
    const restarts = new Restarts({ kind: 'restart', maxRestarts: 40, backoffSeconds: 1, worldSize: 'fixed' });
    const waits = Array.from({ length: 40 }, () => restarts.next(null)?.waitMs);
    expect(waits.slice(0, 8)).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
    expect(Math.max(...waits.map(Number))).toBe(60_000);
  });

  it.each([{ kind: 'stop' }, { kind: 'continue' }] as const)('are not made by the policy $kind', (other) => {
    expect(new Restarts(other).next(7)).toBeNull();
  });
});

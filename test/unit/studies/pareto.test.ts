import { describe, expect, it } from 'vitest';
import { dominates, nondominationRanks, paretoFront } from '../../../core/studies/pareto/front.ts';
import { chooseSubset, hypervolume } from '../../../core/studies/pareto/subset.ts';
import { optuna } from './recorded.ts';

describe.each(optuna.fronts.map((recorded, index) => ({ index, ...recorded })))(
  'front $index agrees with Optuna',
  ({ losses, ranks, reference, hypervolume: volume, front, size, chosen }) => {
    it('in ranks', () => {
      expect(nondominationRanks(losses)).toEqual(ranks);
      expect(paretoFront(losses)).toEqual(ranks.flatMap((rank, row) => (rank === 0 ? [row] : [])));
    });

    it('in hypervolume', () => expect(hypervolume(losses, reference)).toBeCloseTo(volume, 10));

    it('in the subset chosen', () => expect(chooseSubset(front, size, reference)).toEqual(chosen));
  },
);

describe('by hand', () => {
  it('a row dominates only where nothing is worse and something better', () => {
    expect(dominates([1, 2], [1, 3])).toBe(true);
    expect(dominates([1, 2], [1, 2])).toBe(false);
    expect(dominates([1, 4], [2, 3])).toBe(false);
  });

  it('two overlapping rectangles and a box', () => {
    expect(
      hypervolume(
        [
          [1, 2],
          [2, 1],
          [2, 2],
          [9, 0],
        ],
        [3, 3],
      ),
    ).toBe(3);
    expect(
      hypervolume(
        [
          [0, 0, 0],
          [1, 1, 1],
        ],
        [2, 2, 2],
      ),
    ).toBe(8);
    expect(hypervolume([], [1, 1])).toBe(0);
  });

  it('ranks stop once enough rows are ranked', () =>
    expect(
      nondominationRanks(
        [
          [1, 1],
          [2, 2],
          [3, 3],
          [4, 4],
        ],
        2,
      ),
    ).toEqual([0, 1, 2, 2]));

  it('equal rows are chosen after different ones', () => {
    expect(
      chooseSubset(
        [
          [1, 2],
          [1, 2],
          [2, 1],
        ],
        2,
        [3, 3],
      ),
    ).toEqual([0, 2]);
    expect(
      chooseSubset(
        [
          [1, 2],
          [1, 2],
          [2, 1],
        ],
        3,
        [3, 3],
      ),
    ).toEqual([0, 2, 1]);
    expect(
      chooseSubset(
        [
          [1, 2],
          [2, 1],
          [Infinity, 0],
        ],
        2,
        [Infinity, 3],
      ),
    ).toHaveLength(2);
  });
});

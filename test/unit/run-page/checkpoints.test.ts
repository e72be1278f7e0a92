import { describe, expect, it } from 'vitest';
import type { CheckpointCell } from '../../../core/protocol/pages/run-data.ts';
import {
  bytesOf,
  cellsBetween,
  cellsOf,
  checkpointMatrix,
  describeCell,
  reasonsToKeep,
} from '../../../src-renderer/views/run/checkpoints/checkpoint-matrix.ts';
import { compareSets, memberMean } from '../../../src-renderer/views/run/checkpoints/use-sets.ts';

function kept(rank: number, name: string, epoch: number, fields: Partial<CheckpointCell> = {}): CheckpointCell {
  return {
    record: {
      format: 1,
      rank,
      name,
      epoch,
      step: 10 * (epoch + 1),
      monitor: null,
      score: null,
      sha256: '0'.repeat(64),
      bytes: 100,
      savedAt: '2026-11-21T08:00:00.000Z',
    },
    isPinned: false,
    isEnsembleBest: name === 'ensemble-best',
    isMemberBest: name === 'member-best',
    ...fields,
  };
}

const cells = [
  kept(1, 'ensemble-best', 4),
  kept(0, 'ensemble-best', 4),
  kept(0, 'member-best', 4),
  kept(1, 'member-best', 2),
  kept(0, 'final', 7),
  kept(1, 'final', 7),
];
/**
 * Rank 0 scores .2 after epoch 4 and .4 after 7. Rank 1 scores .3 after 2 and .6 after 4, and was not evaluated after
 * 7.
 */
const scores = new Map([
  ['0@4', 0.2],
  ['0@7', 0.4],
  ['1@2', 0.3],
  ['1@4', 0.6],
]);
const matrix = checkpointMatrix(cells, (rank, epoch) => scores.get(`${rank}@${epoch}`) ?? null, 'min');

describe('the matrix of checkpoints', () => {
  it('sums the sizes of its files by rank, by moment and in total', () => {
    expect(matrix.rows.map(bytesOf)).toEqual([300, 300]);
    expect(matrix.columns.map((_, place) => bytesOf(matrix.rows.map((row) => row[place])))).toEqual([100, 300, 200]);
    expect(bytesOf(cellsOf(matrix))).toBe(600);
  });

  it('inverts the shading where more is better, and has none for a neutral metric', () => {
    const scoreOf = (rank: number, epoch: number) => scores.get(`${rank}@${epoch}`) ?? null;
    const shades = (mode: 'min' | 'max' | null) =>
      cellsOf(checkpointMatrix(cells, scoreOf, mode)).map(({ shade }) => shade);
    const least = shades('min');
    shades('max').forEach((shade, i) => expect((shade ?? 0.5) + (least[i] ?? 0.5)).toBeCloseTo(1, 12));
    expect(shades('max')).toContain(1);
    expect(new Set(shades(null))).toEqual(new Set([null]));
  });

  it('gives reasons against deleting', () => {
    const [both, final] = cellsOf(matrix);
    expect(reasonsToKeep([final])).toBeNull();
    expect(reasonsToKeep([{ ...final, isPinned: true }])).toBe('1 is pinned.');
    expect(reasonsToKeep(cellsOf(matrix))).toBe('2 are of the ensemble’s best, 2 are the best of their rank.');
    expect(reasonsToKeep([both])).toBe('1 is of the ensemble’s best, 1 is the best of their rank.');
  });

  it('has a row per rank and a column per moment, with gaps where a rank saved nothing', () => {
    expect(matrix.ranks).toEqual([0, 1]);
    expect(matrix.columns.map(({ epoch, isEnsembleBest }) => [epoch, isEnsembleBest])).toEqual([
      [2, false],
      [4, true],
      [7, false],
    ]);
    expect(matrix.rows.map((row) => row.map((cell) => cell?.key ?? null))).toEqual([
      [null, '0@50', '0@80'],
      ['1@30', '1@50', '1@80'],
    ]);
  });

  it('puts weights saved under two names into one cell', () => {
    const both = matrix.rows[0][1];
    expect(both?.names).toEqual(['ensemble-best', 'member-best']);
    expect([both?.isEnsembleBest, both?.isMemberBest]).toEqual([true, true]);
  });

  it("shades by the rank's score: 1 for the best, 0 for the worst, none without a score", () => {
    expect(cellsOf(matrix).map(({ shade }) => shade)).toEqual([
      1,
      expect.closeTo(0.5, 10),
      expect.closeTo(0.75, 10),
      0,
      null,
    ]);
  });

  it('selects the rectangle between two cells in either order', () => {
    const [from, to] = [matrix.rows[1][0], matrix.rows[0][1]];
    if (from === null || to === null) throw new Error('The matrix lacks the corners of the rectangle.');
    expect(cellsBetween(matrix, from, to).map(({ key }) => key)).toEqual(['0@50', '1@30', '1@50']);
    expect(cellsBetween(matrix, to, from)).toHaveLength(3);
  });

  it('is empty without checkpoints', () => {
    expect(checkpointMatrix([], () => null, 'min')).toEqual({ ranks: [], columns: [], rows: [] });
  });
});

describe('two evaluated sets', () => {
  const a = {
    split: 'test' as const,
    ensemble: { nll: 0.5, acc: 0.9, disagreement: 0.1 },
    members: { nll: [0.6, 0.8] },
    warnings: [],
  };
  const b = { split: 'test' as const, ensemble: { nll: 0.25, acc: 0.8, disagreement: 0.2 }, members: {}, warnings: [] };

  it('are compared: lower NLL and higher accuracy are better, disagreement is neutral', () => {
    expect(compareSets(a, b)).toEqual([
      { metric: 'nll', a: 0.5, b: 0.25, difference: -0.25, better: 'b' },
      { metric: 'acc', a: 0.9, b: 0.8, difference: expect.closeTo(-0.1, 10), better: 'a' },
      { metric: 'disagreement', a: 0.1, b: 0.2, difference: 0.1, better: null },
    ]);
  });

  it('have no differences if there is only one', () => {
    expect(compareSets(a, null)[0]).toEqual({ metric: 'nll', a: 0.5, b: null, difference: null, better: null });
    expect(compareSets(a, a)[0].better).toBeNull();
  });

  it('average the members', () => {
    expect(memberMean(a, 'nll')).toBeCloseTo(0.7, 10);
    expect(memberMean(b, 'nll')).toBeNull();
  });
});

it('a cell is described with its size and age', () => {
  const [cell] = cellsOf(matrix);
  expect(describeCell(cell, Date.parse('2026-11-21T08:01:05.000Z'))).toBe(
    'rank 0 · epoch 5, step 50 · ensemble-best, member-best · own score 0.2000 · 200 B · 1 m 05 s ago',
  );
});

import { describe, expect, it } from 'vitest';
import { confusionMatrix } from '../../../core/metrics/index.ts';
import { cellAt, confusionOf, moveCell, shadedCells } from '../../../src-renderer/views/run/figures/confusion-cells.ts';

/** The example of sklearn.metrics.confusion_matrix: [[2, 0, 0], [0, 0, 1], [1, 0, 2]]. */
const targets = Int32Array.of(2, 0, 2, 2, 0, 1);
const chosen = Int32Array.of(0, 0, 2, 2, 0, 2);

describe('the confusion matrix', () => {
  it("is that of scikit-learn's example", () => {
    expect([...confusionMatrix(chosen, targets, 3)]).toEqual([2, 0, 0, 0, 0, 1, 1, 0, 2]);
  });

  it('as shares of each class; a class without samples has none', () => {
    const { shares } = confusionOf(chosen, targets, ['a', 'b', 'c', 'd']);
    expect([...shares]).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 1 / 3, 0, 2 / 3, 0, NaN, NaN, NaN, NaN]);
  });

  it('refuses other numbers of samples and classes that are none', () => {
    expect(() => confusionMatrix(chosen, targets.subarray(1), 3)).toThrow(RangeError);
    expect(() => confusionMatrix(chosen, targets, 2)).toThrow(
      'The target of sample 0 is 2: with 2 classes it is from 0 to 1.',
    );
    expect(() => confusionMatrix(Int32Array.of(-1), Int32Array.of(0), 2)).toThrow('The chosen class of sample 0 is -1');
  });
});

describe('the cells of a confusion matrix', () => {
  const place = { x: (value: number) => 10 * value, y: (value: number) => -10 * value };

  it('are one path for each shade, the diagonal apart, and nothing where nothing is', () => {
    const cells = shadedCells(confusionOf(chosen, targets, ['a', 'b', 'c']), place);
    const found = cells.map(({ isDiagonal, shade, path }) => [isDiagonal, shade, path.split('M').length - 1]);
    expect(
      found.toSorted((left, right) => Number(left[0]) - Number(right[0]) || Number(left[1]) - Number(right[1])),
    ).toEqual([
      [false, 6 / 16, 1],
      [false, 1, 1],
      [true, 11 / 16, 1],
      [true, 1, 1],
    ]);
    // Class b, taken for c: the middle row from the top, the last column.
    expect(cells.find(({ isDiagonal, shade }) => !isDiagonal && shade === 1)?.path).toBe('M15 -15H25V-5H15Z');
  });

  it('100 classes are at most 32 paths', () => {
    const labels = Int32Array.from({ length: 10_000 }, (_, n) => Math.floor(n / 100));
    const taken = Int32Array.from({ length: 10_000 }, (_, n) => (n % 3 === 0 ? n % 100 : Math.floor(n / 100)));
    const confusion = confusionOf(
      taken,
      labels,
      Array.from({ length: 100 }, (_, k) => String(k)),
    );
    expect(shadedCells(confusion, place).length).toBeLessThanOrEqual(32);
  });

  it('are found by the pointer and moved by keys', () => {
    expect(cellAt(0.99, 0.4, 3)).toEqual({ label: 1, predicted: 2 });
    expect(cellAt(-0.01, 0.4, 3)).toBeNull();
    expect(cellAt(0.5, 1, 3)).toBeNull();
    expect(moveCell({ label: 1, predicted: 2 }, 'ArrowRight', 3)).toEqual({ label: 1, predicted: 2 });
    expect(moveCell({ label: 1, predicted: 2 }, 'ArrowUp', 3)).toEqual({ label: 0, predicted: 2 });
    expect(moveCell({ label: 1, predicted: 2 }, 'ArrowDown', 3)).toEqual({ label: 2, predicted: 2 });
    expect(moveCell({ label: 1, predicted: 2 }, 'ArrowLeft', 3)).toEqual({ label: 1, predicted: 1 });
    expect(moveCell({ label: 1, predicted: 1 }, 'Home', 3)).toEqual({ label: 1, predicted: 0 });
    expect(moveCell({ label: 1, predicted: 1 }, 'End', 3)).toEqual({ label: 1, predicted: 2 });
    expect(moveCell({ label: 1, predicted: 1 }, 'a', 3)).toBeNull();
  });
});

import { confusionMatrix } from '../../../../core/metrics/index.ts';
import type { Place } from '../../../charts/scene/plot.ts';

/** How often each class is taken for each other. */
export interface Confusion {
  /** Names of the classes, `[K]`. */
  names: readonly string[];
  /** Samples by class (row) and by most probable class, `[K, K]`. */
  counts: Int32Array;
  /** Each count as a share of its row, `[K, K]`; NaN in the row of a class without samples. */
  shares: Float64Array;
}

/** A class and what it is taken for, as indices of classes. */
export interface Cell {
  label: number;
  predicted: number;
}

export function confusionOf(chosen: Int32Array, targets: Int32Array, names: readonly string[]): Confusion {
  const classes = names.length;
  const counts = confusionMatrix(chosen, targets, classes);
  const totals = names.map((_, row) => sum(counts.subarray(row * classes, (row + 1) * classes)));
  const shares = Float64Array.from(counts, (count, index) => count / totals[Math.floor(index / classes)]);
  return { names, counts, shares };
}

const sum = (values: Int32Array): number => values.reduce((total, value) => total + value, 0);

/** So many shades are told apart; each is one path, so that 100 classes are some paths, not 10,000 rectangles. */
const shades = 16;

/** Cells of one shade. */
export interface ShadedCells {
  isDiagonal: boolean;
  /** From 0 to 1: the share of the row. */
  shade: number;
  path: string;
}

/** The cells that are not empty, by shade, as paths. Rows are drawn from the top. */
export function shadedCells({ names, shares }: Confusion, { x, y }: Place): ShadedCells[] {
  const classes = names.length;
  const filled = [...shares.keys()].filter((index) => shares[index] > 0);
  const levelOf = (index: number): number => Math.ceil(shares[index] * shades);
  const isOnDiagonal = (index: number): boolean => index % (classes + 1) === 0;
  const groups = Map.groupBy(filled, (index) => levelOf(index) * 2 + Number(isOnDiagonal(index)));
  return [...groups].map(([key, indices]) => ({
    isDiagonal: key % 2 === 1,
    shade: Math.floor(key / 2) / shades,
    path: indices.map((index) => square(Math.floor(index / classes), index % classes)).join(''),
  }));

  function square(row: number, column: number): string {
    const top = classes - 1 - row;
    return `M${x(column - 0.5)} ${y(top + 0.5)}H${x(column + 0.5)}V${y(top - 0.5)}H${x(column - 0.5)}Z`;
  }
}

/** The cell at a point of the plot, as shares of its width and height from the upper left; null outside. */
export function cellAt(acrossShare: number, downShare: number, classes: number): Cell | null {
  const [predicted, label] = [Math.floor(acrossShare * classes), Math.floor(downShare * classes)];
  const isInside = (index: number): boolean => index >= 0 && index < classes;
  return isInside(predicted) && isInside(label) ? { label, predicted } : null;
}

/** Where an arrow key, Home or End moves; null for other keys. */
export function moveCell({ label, predicted }: Cell, key: string, classes: number): Cell | null {
  const within = (index: number): number => Math.min(Math.max(index, 0), classes - 1);
  switch (key) {
    case 'ArrowLeft':
      return { label, predicted: within(predicted - 1) };
    case 'ArrowRight':
      return { label, predicted: within(predicted + 1) };
    case 'ArrowUp':
      return { label: within(label - 1), predicted };
    case 'ArrowDown':
      return { label: within(label + 1), predicted };
    case 'Home':
      return { label, predicted: 0 };
    case 'End':
      return { label, predicted: classes - 1 };
    default:
      return null;
  }
}

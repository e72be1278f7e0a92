import { weightedSum, flat, type Value } from '../../../reference/value.ts';

/** For each value of a resized axis the values of the original that it is made of, with their weights. */
export type AxisParts = (from: number, to: number) => (readonly [index: number, weight: number])[][];

/** Images `[B, h, w, C]` as weighted sums of their pixels, `[B, height, width, C]`. */
export function resize(x: Value, height: number, width: number, parts: AxisParts): Value {
  const [batch, fromHeight, fromWidth, channels] = x.shape;
  const shape = [batch, height, width, channels];
  const [rows, columns] = [parts(fromHeight, height), parts(fromWidth, width)];
  return weightedSum(x, shape, (term) => {
    for (let b = 0; b < batch; b++)
      for (let c = 0; c < channels; c++)
        rows.forEach((ofRow, row) =>
          columns.forEach((ofColumn, column) => {
            for (const [y, tall] of ofRow)
              for (const [z, wide] of ofColumn)
                term(flat(shape, [b, row, column, c]), flat(x.shape, [b, y, z, c]), tall * wide);
          }),
        );
  });
}

const positions = (from: number, to: number): number[] => Array.from({ length: to }, (_, i) => (i * from) / to);

/** The value at i · from / to, rounded down. */
export const nearest: AxisParts = (from, to) => positions(from, to).map((position) => [[Math.floor(position), 1]]);

/** Between the two values around i · from / to; the last stands for what lies beyond it. */
export const linear: AxisParts = (from, to) =>
  positions(from, to).map((position) => {
    const low = Math.floor(position);
    return [
      [low, 1 - (position - low)],
      [Math.min(low + 1, from - 1), position - low],
    ];
  });

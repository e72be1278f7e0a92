import { weightedSum, flat, type Value } from '../../../../reference/value.ts';

/** For each value of a resized axis, its source values with their weights. */
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

/** How the resized axis is aligned with the original: corners on corners, or pixel centers half a pixel in. */
export interface Alignment {
  readonly alignCorners: boolean;
  readonly halfPixelCenters: boolean;
}

const ratioOf = (from: number, to: number, { alignCorners }: Alignment): number =>
  alignCorners && to > 1 ? (from - 1) / (to - 1) : from / to;

/** The value at i · from / to, rounded down, or to the nearest with aligned corners. */
export const nearest =
  (alignment: Alignment): AxisParts =>
  (from, to) =>
    Array.from({ length: to }, (_, i) => {
      const position = (alignment.halfPixelCenters ? i + 0.5 : i) * ratioOf(from, to, alignment);
      const place = alignment.alignCorners ? Math.round(position) : Math.floor(position);
      return [[Math.min(place, from - 1), 1]];
    });

/** Interpolates between the two values around i · from / to. The outermost values extend beyond the edges. */
export const linear =
  (alignment: Alignment): AxisParts =>
  (from, to) =>
    Array.from({ length: to }, (_, i) => {
      const ratio = ratioOf(from, to, alignment);
      const place = alignment.halfPixelCenters ? (i + 0.5) * ratio - 0.5 : i * ratio;
      const position = Math.max(0, Math.min(place, from - 1));
      const low = Math.floor(position);
      return [
        [low, 1 - (position - low)],
        [Math.min(low + 1, from - 1), position - low],
      ];
    });

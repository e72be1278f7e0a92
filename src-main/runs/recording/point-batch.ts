import type { WireArray } from '../../../core/protocol/wire/frames.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';

/** The five columns of a frame as a batch. @throws when they do not fit */
export function pointBatch(names: string[], arrays: WireArray[]): PointBatch {
  const [nameIndex, epoch, step, value, timeMs] = arrays;
  const fits =
    nameIndex instanceof Int32Array &&
    epoch instanceof Int32Array &&
    step instanceof Int32Array &&
    value instanceof Float64Array &&
    timeMs instanceof Float64Array;
  if (!fits)
    throw new Error('A batch of points did not have its five columns: worker and hub are of different versions.');
  return { names, nameIndex, epoch, step, value, timeMs };
}

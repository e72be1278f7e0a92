import { createArray, dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import type { CollectiveArray } from '../../core/protocol/wire/collectives.ts';

/** An array in several parts, one after the other. */
export class Parts {
  readonly length: number;
  readonly #locate: () => readonly CollectiveArray[];

  /** @param locate returns the current parts, all of one type; called before each use, as memory may move */
  constructor(length: number, locate: () => readonly CollectiveArray[]) {
    this.length = length;
    this.#locate = locate;
  }

  /** An array in one part. */
  static of(array: CollectiveArray): Parts {
    return new Parts(array.length, () => [array]);
  }

  /** Views of the elements from `start` to `end`. Use them at once: memory may move. */
  views(start = 0, end = this.length): CollectiveArray[] {
    let offset = 0;
    return this.#locate().flatMap((part) => {
      const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, part.length)];
      offset += part.length;
      return from < to ? [part.subarray(from, to)] : [];
    });
  }

  /** All elements as one array: the array itself where there is one part, else a copy. */
  whole(): CollectiveArray {
    const parts = this.#locate();
    if (parts.length === 1) return parts[0];
    const whole = createArray(dataTypeOf(parts[0]), this.length);
    this.copyTo(whole, 0);
    return whole;
  }

  /** Fills `target` with the elements from `start` on. */
  copyTo(target: CollectiveArray, start: number): void {
    let offset = 0;
    for (const view of this.views(start, start + target.length)) {
      target.set(view, offset);
      offset += view.length;
    }
  }

  /** Writes values to the elements from `start` on. */
  set(values: CollectiveArray, start = 0): void {
    let offset = 0;
    for (const view of this.views(start, start + values.length)) {
      view.set(values.subarray(offset, offset + view.length));
      offset += view.length;
    }
  }
}

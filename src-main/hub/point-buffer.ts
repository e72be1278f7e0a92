import type { PointBatch } from '../../core/protocol/wire/numbers.ts';

/** Collects single points into a batch. */
export class PointBuffer {
  readonly #indexOf = new Map<string, number>();
  #nameIndex: number[] = [];
  #epoch: number[] = [];
  #step: number[] = [];
  #value: number[] = [];

  get length(): number {
    return this.#value.length;
  }

  add(metric: string, epoch: number, step: number, value: number): void {
    let index = this.#indexOf.get(metric);
    if (index === undefined) this.#indexOf.set(metric, (index = this.#indexOf.size));
    this.#nameIndex.push(index);
    this.#epoch.push(epoch);
    this.#step.push(step);
    this.#value.push(value);
  }

  /** Removes and returns all points so far. Their times are unknown. */
  take(): PointBatch {
    const batch = {
      names: [...this.#indexOf.keys()],
      nameIndex: Int32Array.from(this.#nameIndex),
      epoch: Int32Array.from(this.#epoch),
      step: Int32Array.from(this.#step),
      value: Float64Array.from(this.#value),
      timeMs: new Float64Array(this.length).fill(NaN),
    };
    this.#indexOf.clear();
    this.#nameIndex = [];
    this.#epoch = [];
    this.#step = [];
    this.#value = [];
    return batch;
  }
}

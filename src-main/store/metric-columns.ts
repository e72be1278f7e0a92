/** The points of one metric, ascending by (step, epoch); only the first `length` elements count. */
export class MetricColumn {
  epoch = new Int32Array(64);
  step = new Int32Array(64);
  value = new Float64Array(64);
  length = 0;

  /** Sets the value of an (epoch, step): the later of two values counts. Points in order cost constant time on average. */
  set(epoch: number, step: number, value: number): void {
    const place = this.#place(epoch, step);
    const isKnown = place < this.length && this.step[place] === step && this.epoch[place] === epoch;
    if (!isKnown) this.#makeRoom(place);
    this.epoch[place] = epoch;
    this.step[place] = step;
    this.value[place] = value;
  }

  /** Index of the first point at or after a step; `length` where there is none. */
  firstAt(step: number): number {
    return this.#place(-Infinity, step);
  }

  /** Index of the first point that does not come before (epoch, step). */
  #place(epoch: number, step: number): number {
    if (this.length === 0 || this.#isBefore(this.length - 1, epoch, step)) return this.length;
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(middle, epoch, step)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(index: number, epoch: number, step: number): boolean {
    return this.step[index] < step || (this.step[index] === step && this.epoch[index] < epoch);
  }

  #makeRoom(place: number): void {
    if (this.length === this.step.length) {
      this.epoch = grown(this.epoch, new Int32Array(2 * this.length));
      this.step = grown(this.step, new Int32Array(2 * this.length));
      this.value = grown(this.value, new Float64Array(2 * this.length));
    }
    for (const array of [this.epoch, this.step, this.value]) array.copyWithin(place + 1, place, this.length);
    this.length += 1;
  }
}

/** The metrics of one run, in the order in which they first came. */
export class MetricColumns {
  readonly #columns = new Map<string, MetricColumn>();

  get names(): string[] {
    return [...this.#columns.keys()];
  }

  get(name: string): MetricColumn | undefined {
    return this.#columns.get(name);
  }

  set(name: string, epoch: number, step: number, value: number): void {
    let column = this.#columns.get(name);
    if (column === undefined) this.#columns.set(name, (column = new MetricColumn()));
    column.set(epoch, step, value);
  }

  clear(): void {
    this.#columns.clear();
  }
}

function grown<A extends Int32Array | Float64Array>(from: A, into: A): A {
  into.set(from);
  return into;
}

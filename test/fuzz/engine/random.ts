/**
 * A generator of pseudo-random integers: sfc32 of PractRand (https://pracrand.sourceforge.net). Equal seeds give equal
 * sequences.
 */
export class Random {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    this.#state = Uint32Array.of(seed, seed ^ 0x9e3779b9, 0x243f6a88, 1);
    for (let round = 0; round < 15; round += 1) this.#next();
  }

  /** An integer in `[0, limit)`. */
  below(limit: number): number {
    return Math.floor((this.#next() / 2 ** 32) * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)];
  }

  #next(): number {
    const [a, b, c, counter] = this.#state;
    const result = (a + b + counter) >>> 0;
    this.#state[0] = b ^ (b >>> 9);
    this.#state[1] = c + (c << 3);
    this.#state[2] = ((c << 21) | (c >>> 11)) + result;
    this.#state[3] = counter + 1;
    return result;
  }
}

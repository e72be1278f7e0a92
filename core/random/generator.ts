import { encodeUtf8 } from '../text/host.ts';
import { multiplyHigh, philox4x32 } from './philox.ts';

/** A generator's position, as JSON, for an exact resume. */
export interface GeneratorState {
  seed: number;
  stream: string;
  /** 32-bit words drawn so far. */
  position: number;
}

/**
 * A reproducible stream of random numbers, named after its purpose (`weights`, `dropout`, `shuffle`, `split`, ...).
 *
 * It uses Philox4x32-10 in counter mode. The seed is the key; the hash of the stream's name is the counter's upper 64
 * bits, and the block's index the lower 64. Streams of one seed therefore read disjoint counters and, because Philox is
 * a bijection, never share a block: draws from one stream never shift another.
 *
 * Integers, uniforms and permutations are the same on every machine. Normals use `Math.log` and `Math.cos`, which are
 * the same wherever the JavaScript engine is (V8 includes its own).
 */
export class Generator {
  /** An integer in [0, 2^32). */
  readonly seed: number;
  /** Name of the stream. */
  readonly stream: string;
  #position = 0;
  readonly #key: Uint32Array;
  readonly #counter: Uint32Array;
  readonly #block = new Uint32Array(4);

  /** @throws RangeError when the seed is not an integer in [0, 2^32). */
  constructor(seed: number, stream: string) {
    if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) {
      throw new RangeError(`seed ${seed}: a seed is an integer from 0 to 4294967295; choose one in that range`);
    }
    const hash = hashName(stream);
    this.seed = seed;
    this.stream = stream;
    this.#key = Uint32Array.of(seed, 0);
    this.#counter = Uint32Array.of(0, 0, Number(hash & 0xffffffffn), Number(hash >> 32n));
  }

  /** Returns the current position. */
  state(): GeneratorState {
    return { seed: this.seed, stream: this.stream, position: this.#position };
  }

  /**
   * Continues exactly where `state` was taken.
   *
   * @throws Error when the state belongs to another seed or stream, or its position is not a whole number.
   */
  restore(state: GeneratorState): void {
    if (state.seed !== this.seed || state.stream !== this.stream) {
      throw new Error(
        `a state of seed ${state.seed}, stream "${state.stream}" does not fit the generator of seed ${this.seed}, ` +
          `stream "${this.stream}": restore it into a generator made with the same seed and stream`,
      );
    }
    if (!Number.isSafeInteger(state.position) || state.position < 0) {
      throw new RangeError(
        `position ${state.position} of stream "${this.stream}": a position counts the words drawn, from 0 up; ` +
          `restore a state that \`state()\` returned`,
      );
    }
    this.#position = state.position;
    this.#readBlock();
  }

  /** A uniform double in [0, 1) with 53 random bits. Takes two words. */
  uniform(): number {
    const upper = this.#word() >>> 5;
    const lower = this.#word() >>> 6;
    return (upper * 2 ** 26 + lower) / 2 ** 53;
  }

  /**
   * Draws an unbiased integer in [0, bound), by multiplication with rejection (Lemire, "Fast random integer generation
   * in an interval", 2019, algorithm 5). Takes one word, rarely more.
   *
   * @throws RangeError when the bound is not an integer in [1, 2^32).
   */
  integer(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1 || bound >= 2 ** 32) {
      throw new RangeError(`bound ${bound}: an integer is drawn below a whole bound from 1 to 4294967295`);
    }
    let word = this.#word();
    let low = Math.imul(word, bound) >>> 0;
    if (low < bound) {
      const threshold = (2 ** 32 - bound) % bound;
      while (low < threshold) {
        word = this.#word();
        low = Math.imul(word, bound) >>> 0;
      }
    }
    return multiplyHigh(word, bound);
  }

  /**
   * Draws a standard normal: sqrt(-2 ln(1 - u)) cos(2 pi v) (Box and Muller, 1958). Takes four words. The sine's half
   * is discarded, so that the state remains a position.
   */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Draws a permutation of the integers 0 to length - 1 (Fisher and Yates; Knuth's algorithm P). */
  permutation(length: number): Int32Array {
    const order = Int32Array.from({ length }, (_, index) => index);
    for (let last = length - 1; last > 0; last--) {
      const chosen = this.integer(last + 1);
      const moved = order[last];
      order[last] = order[chosen];
      order[chosen] = moved;
    }
    return order;
  }

  /**
   * Fills an array with uniforms in [0, 1) of 24 bits, because more would round up to 1 in float32. Takes one word per
   * value.
   */
  fillUniform(values: Float32Array): void {
    for (let index = 0; index < values.length; index++) values[index] = (this.#word() >>> 8) / 2 ** 24;
  }

  /** Fills an array with standard normals, as {@link normal} draws them. */
  fillNormal(values: Float32Array): void {
    for (let index = 0; index < values.length; index++) values[index] = this.normal();
  }

  #word(): number {
    const offset = this.#position & 3;
    if (offset === 0) this.#readBlock();
    this.#position++;
    return this.#block[offset];
  }

  #readBlock(): void {
    const index = Math.floor(this.#position / 4);
    this.#counter[0] = index;
    this.#counter[1] = index / 2 ** 32;
    philox4x32(this.#counter, this.#key, this.#block);
  }
}

/**
 * Seed of a rank: `base + rank`, modulo 2^32, so that members diverge; the base itself where all ranks must agree
 * (ablations, shared splits). Same as `DistributedSeeder` in torch-distributed-ensemble.
 */
export function seedForRank(baseSeed: number, rank: number, identical: boolean): number {
  return identical ? baseSeed : (baseSeed + rank) % 2 ** 32;
}

/** FNV-1a, 64 bits, of the name's UTF-8 bytes (Fowler, Noll and Vo; RFC 9923). */
export function hashName(name: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of encodeUtf8(name)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
}

import { Generator } from '../../../../workers/random/index.ts';
import type { Tensor } from '../../../../workers/tensorflow/tf.ts';
import type { Value } from '../../../reference/value.ts';
import type { LayerCall } from './cases/layer-call.ts';

/** An op (or a layer) whose value and gradient a backend must get right, over shapes drawn at random. */
export interface OpCase {
  /** The name in user code, e.g. `conv2d` or `layers.lstm`. */
  readonly op: string;
  /** How often it is drawn relative to others: more often with more options. */
  readonly weight: number;
  draw(random: Draw): OpSample;
}

/** One draw of shapes and values. Each backend's `apply` gets tensors of the same values. */
export interface OpSample {
  /** The inputs with gradients. */
  readonly inputs: readonly Values[];
  /** What was drawn besides shapes, for messages. */
  readonly options?: object;
  readonly apply: (inputs: Tensor[]) => Tensor;
  /** The definition in float64. */
  readonly reference: (inputs: Value[]) => Value;
  /** False for ops whose result does not depend on their inputs smoothly, e.g. `argMax`. */
  readonly differentiable?: boolean;
  /** For layers: also applied in a stack of members. */
  readonly layer?: LayerCall;
}

export interface Values {
  readonly shape: number[];
  readonly data: Float32Array;
}

export function opCase(op: string, draw: (random: Draw) => OpSample, weight = 1): OpCase {
  return { op, weight, draw };
}

/** Widths for which kernels have special paths. */
const channelCounts = [1, 2, 3, 4, 5, 8];

/**
 * Draws shapes and values from a source of integers: a generator, or a property test's source, which can shrink them.
 */
export class Draw {
  /** An integer in [smallest, largest]. */
  readonly integer: (smallest: number, largest: number) => number;

  constructor(integer: (smallest: number, largest: number) => number) {
    this.integer = integer;
  }

  static from(generator: Generator): Draw {
    return new Draw((smallest, largest) => smallest + generator.integer(largest - smallest + 1));
  }

  integers(count: number, bound: number): number[] {
    return Array.from({ length: count }, () => this.integer(0, bound - 1));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)];
  }

  /** True once in `times` draws. */
  rarely(times: number): boolean {
    return this.integer(1, times) === times;
  }

  channels(): number {
    return this.pick(channelCounts);
  }

  /** A shape of `smallestRank` to `largestRank` axes, each of 1 to `largestSize`. */
  shape(smallestRank = 1, largestRank = 4, largestSize = 7): number[] {
    return Array.from({ length: this.integer(smallestRank, largestRank) }, () => this.integer(1, largestSize));
  }

  /** An axis of a tensor with this rank. */
  axis(rank: number): number {
    return this.integer(0, rank - 1);
  }

  permutation(length: number): number[] {
    return [...this.generator().permutation(length)];
  }

  /** Standard normal values, occasionally all equal. */
  normal(shape: number[]): Values {
    const data = new Float32Array(sizeOf(shape));
    this.generator().fillNormal(data);
    return { shape, data: this.rarely(12) ? data.fill(data[0]) : data };
  }

  /** Values in [smallest, largest). */
  uniform(shape: number[], smallest: number, largest: number): Values {
    const data = new Float32Array(sizeOf(shape));
    this.generator().fillUniform(data);
    return { shape, data: data.map((value) => smallest + value * (largest - smallest)) };
  }

  /** Values that all differ by at least 0.01, in random order, so that rounding cannot change maxima and sorts. */
  distinct(shape: number[]): Values {
    const order = this.generator().permutation(sizeOf(shape));
    return { shape, data: Float32Array.from(order, (place) => (place + 0.5 - order.length / 2) / 100) };
  }

  /** Normal values at least `gap` away from kinks, so that rounding cannot cross them. */
  away(shape: number[], kinks: readonly number[], gap = 1e-3): Values {
    const { data } = this.normal(shape);
    const moved = data.map((value) => {
      const kink = kinks.find((k) => Math.abs(value - k) < gap);
      return kink === undefined ? value : kink + gap;
    });
    return { shape, data: moved };
  }

  /** A shape that broadcasts to `shape`: without some leading axes, with some sizes 1. */
  broadcastable(shape: number[]): number[] {
    return shape.slice(this.integer(0, shape.length - 1)).map((size) => (this.rarely(3) ? 1 : size));
  }

  private generator(): Generator {
    return new Generator(this.integer(0, 2 ** 31 - 1), 'values');
  }
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

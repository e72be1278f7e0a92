import type { Generator } from '../../../../workers/random/index.ts';
import type { Tensor } from '../../../../workers/tf.ts';

/** An op (or a layer) whose value and gradient a backend must get right, over shapes drawn at random. */
export interface OpCase {
  /** As users call it, e.g. `conv2d` or `layers.lstm`. */
  readonly op: string;
  draw(random: Draw): OpSample;
}

/** One draw of shapes and values. `apply` is called with tensors of the same values on each backend. */
export interface OpSample {
  /** What gradients are taken of. */
  readonly inputs: readonly Values[];
  readonly apply: (inputs: Tensor[]) => Tensor;
  /** The same composed of other ops, to be held against where the reference backend's own op is wrong. */
  readonly reference?: (inputs: Tensor[]) => Tensor;
  /** False for ops whose result does not depend on their inputs smoothly, e.g. `argMax`. */
  readonly differentiable?: boolean;
}

export interface Values {
  readonly shape: number[];
  readonly data: Float32Array;
}

export function opCase(op: string, draw: (random: Draw) => OpSample): OpCase {
  return { op, draw };
}

/** Draws shapes and values from a reproducible stream. */
export class Draw {
  private readonly generator: Generator;

  constructor(generator: Generator) {
    this.generator = generator;
  }

  /** An integer in [smallest, largest]. */
  integer(smallest: number, largest: number): number {
    return smallest + this.generator.integer(largest - smallest + 1);
  }

  integers(count: number, bound: number): number[] {
    return Array.from({ length: count }, () => this.generator.integer(bound));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.generator.integer(choices.length)];
  }

  /** A shape of `smallestRank` to `largestRank` axes, each of 1 to `largestSize`. */
  shape(smallestRank = 1, largestRank = 4, largestSize = 7): number[] {
    return Array.from({ length: this.integer(smallestRank, largestRank) }, () => this.integer(1, largestSize));
  }

  /** An axis of a tensor of this rank. */
  axis(rank: number): number {
    return this.generator.integer(rank);
  }

  permutation(length: number): number[] {
    return [...this.generator.permutation(length)];
  }

  /** Standard normal values. */
  normal(shape: number[]): Values {
    const data = new Float32Array(sizeOf(shape));
    this.generator.fillNormal(data);
    return { shape, data };
  }

  /** Values in [smallest, largest). */
  uniform(shape: number[], smallest: number, largest: number): Values {
    const data = new Float32Array(sizeOf(shape));
    this.generator.fillUniform(data);
    return { shape, data: data.map((value) => smallest + value * (largest - smallest)) };
  }

  /** Values that all differ by at least 0.01, in random order: maxima and sorts have no ties that rounding could turn. */
  distinct(shape: number[]): Values {
    const order = this.generator.permutation(sizeOf(shape));
    return { shape, data: Float32Array.from(order, (place) => (place - order.length / 2) / 100) };
  }

  /** A shape that broadcasts to `shape`: some leading axes left out, some sizes 1. */
  broadcastable(shape: number[]): number[] {
    return shape
      .slice(this.generator.integer(shape.length))
      .map((size) => (this.generator.integer(3) === 0 ? 1 : size));
  }
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

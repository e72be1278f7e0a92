import { Generator } from '../../../../workers/random/index.ts';
import type { Tensor } from '../../../../workers/tensorflow/tf.ts';
import type { Value } from '../../../reference/value.ts';
import type { LayerCall } from './cases/layer-call.ts';

/** An op (or a layer) whose value and gradient a backend must get right, over shapes drawn at random. */
export interface OpCase {
  /** As users call it, e.g. `conv2d` or `layers.lstm`. */
  readonly op: string;
  /** How many times as often as others it is drawn: the more options, the more. */
  readonly weight: number;
  draw(random: Draw): OpSample;
}

/** One draw of shapes and values. `apply` is called with tensors of the same values on each backend. */
export interface OpSample {
  /** What gradients are taken of. */
  readonly inputs: readonly Values[];
  /** For messages: what was drawn besides shapes. */
  readonly options?: object;
  readonly apply: (inputs: Tensor[]) => Tensor;
  /** The same from its definition, in float64. */
  readonly reference: (inputs: Value[]) => Value;
  /** False for ops whose result does not depend on their inputs smoothly, e.g. `argMax`. */
  readonly differentiable?: boolean;
  /** Of layers: to be applied in a stack of members as well. */
  readonly layer?: LayerCall;
}

export interface Values {
  readonly shape: number[];
  readonly data: Float32Array;
}

export function opCase(op: string, draw: (random: Draw) => OpSample, weight = 1): OpCase {
  return { op, weight, draw };
}

/** Widths at which kernels take paths of their own. */
const channelCounts = [1, 2, 3, 4, 5, 8];

/** Draws shapes and values from a source of integers: a generator, or a property test's, which can make them smaller. */
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

  /** True once in `times`. */
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

  /** An axis of a tensor of this rank. */
  axis(rank: number): number {
    return this.integer(0, rank - 1);
  }

  permutation(length: number): number[] {
    return [...this.generator().permutation(length)];
  }

  /** Standard normal values; now and then all the same. */
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

  /** Values that all differ by at least 0.01, in random order: maxima and sorts have no ties that rounding could turn. */
  distinct(shape: number[]): Values {
    const order = this.generator().permutation(sizeOf(shape));
    return { shape, data: Float32Array.from(order, (place) => (place + 0.5 - order.length / 2) / 100) };
  }

  /** Normal values at least `gap` away from kinks, where rounding could take another side. */
  away(shape: number[], kinks: readonly number[], gap = 1e-3): Values {
    const { data } = this.normal(shape);
    const moved = data.map((value) => {
      const kink = kinks.find((k) => Math.abs(value - k) < gap);
      return kink === undefined ? value : kink + gap;
    });
    return { shape, data: moved };
  }

  /** A shape that broadcasts to `shape`: some leading axes left out, some sizes 1. */
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

import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';

/** The package exports its initializers, but not their class. */
const Initializer = Object.getPrototypeOf(layers.initializers.ones().constructor) as new () => ReturnType<
  typeof layers.initializers.ones
>;

/**
 * Draws −1 and 1 with the same probability.
 *
 * Source: Wen, Tran and Ba, "BatchEnsemble: an alternative approach to efficient ensemble and lifelong learning", ICLR
 * 2020, section 3.1.
 */
export class RandomSign extends Initializer {
  static readonly className = 'RandomSign';

  override apply(shape: (number | null)[]): Tensor {
    return core.tidy(() => {
      const uniform = core.randomUniform(shape as number[]);
      return core.sub(core.mul(core.cast(core.greaterEqual(uniform, 0.5), 'float32'), 2), 1);
    });
  }
}

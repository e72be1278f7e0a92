import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';
import type { RunConfig } from '../../protocol/run-config.ts';

interface VarianceScaling {
  distribution: 'normal' | 'uniform';
  apply: (this: VarianceScaling, shape: number[], dtype?: string) => Tensor;
}

/** Standard deviation of a standard normal distribution that is cut off at -2 and 2. */
const truncatedDeviation = 0.87962566103423978;

let current: RunConfig['initializers'] = 'corrected';

/** Chooses by what rule the models that are built from now on begin. */
export function useInitializers(kind: RunConfig['initializers']): void {
  current = kind;
}

/**
 * Gives `glorotNormal`, `heNormal`, `leCunNormal` and `varianceScaling` their variance, e.g. 2 / (fan in + fan out): they draw normal values
 * and drop those beyond two standard deviations, which leaves 0.774 of the variance. As in Keras, the standard deviation is divided by
 * {@link truncatedDeviation} first. `truncatedNormal` itself takes the deviation before the cut, there and here.
 */
export function correctInitializers(): void {
  const initializer = layers.initializers.glorotNormal({});
  const methods = Object.getPrototypeOf(Object.getPrototypeOf(initializer)) as VarianceScaling;
  const { apply } = methods;
  methods.apply = function correctedApply(this: VarianceScaling, shape, dtype) {
    const drawn = apply.call(this, shape, dtype);
    if (this.distribution !== 'normal' || current === 'tfjs') return drawn;
    const corrected = core.div(drawn, truncatedDeviation);
    drawn.dispose();
    return corrected;
  };
}

import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';
import type { RunConfig } from '../../../core/protocol/run/config.ts';

interface VarianceScaling {
  distribution: 'normal' | 'uniform';
  apply: (this: VarianceScaling, shape: number[], dtype?: string) => Tensor;
}

type Options = Record<string, number | undefined>;
type Initializer = ReturnType<typeof layers.initializers.zeros>;
type FromConfig = (type: unknown, config: Options) => Initializer;

/** Options of these initializers that may be 0. */
const numbers = {
  randomUniform: ['minval', 'maxval'],
  randomNormal: ['mean', 'stddev'],
  truncatedNormal: ['mean', 'stddev'],
} as const;

/** Standard deviation of a standard normal distribution truncated at -2 and 2. */
const truncatedDeviation = 0.87962566103423978;

let current: RunConfig['initializers'] = 'corrected';

/** Sets the rule for the initial weights of the models that are built after this call. */
export function useInitializers(kind: RunConfig['initializers']): void {
  current = kind;
}

/**
 * Gives `glorotNormal`, `heNormal`, `leCunNormal` and `varianceScaling` their variance, e.g. 2 / (fan in + fan out).
 * They draw normal values and drop those beyond two standard deviations, which leaves 0.774 of the variance. As in
 * Keras, the standard deviation is divided by {@link truncatedDeviation}. The option of `truncatedNormal` is the
 * deviation before truncation, in Keras and here.
 */
export function correctInitializers(): void {
  for (const kind of Object.keys(numbers) as (keyof typeof numbers)[]) keepZeros(kind);
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

/**
 * tfjs treats 0 as an absent option: `randomUniform({ minval: 0 })` draws from -0.05. Corrects models that are read
 * from a file too.
 */
function keepZeros(kind: keyof typeof numbers): void {
  const factories = layers.initializers as unknown as Record<string, (options: Options) => Initializer>;
  const create = factories[kind];
  const createWithZeros = (options: Options): Initializer => {
    const zeros = numbers[kind].filter((name) => options[name] === 0).map((name) => [name, 0]);
    return Object.assign(create(options), Object.fromEntries(zeros));
  };
  factories[kind] = createWithZeros;
  const { classNameMap } = core.serialization.SerializationMap.getMap();
  const registered = classNameMap[create({}).getClassName()] as unknown as [type: unknown, fromConfig: FromConfig];
  registered[1] = (_type, config) => createWithZeros(config);
}

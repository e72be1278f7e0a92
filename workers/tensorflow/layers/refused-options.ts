import { factories, type LayerOptions } from './tensorflow-layers.ts';

/** An option that TensorFlow.js's layers accept, but ignore or fail on in their first call. */
interface RefusedOption {
  name: string;
  /** Kinds of layers; absent: all. */
  kinds?: readonly string[];
  isRefused: (value: unknown) => boolean;
  remedy: string;
}

const refusedOptions: readonly RefusedOption[] = [
  {
    name: 'activityRegularizer',
    isRefused: (value) => value !== null && value !== undefined,
    remedy: "Make the layer's output another output of the model, and add its penalty in the project's loss.",
  },
  {
    name: 'dilationRate',
    kinds: ['conv2dTranspose', 'conv3dTranspose'],
    isRefused: (value) => value !== undefined && [value].flat().some((rate) => rate !== 1),
    remedy: 'Leave it out, or use upSampling2d with a dilated convolution.',
  },
];

/** Lets `tf.layers` refuse options by name that would do nothing. */
export function refuseOptions(): void {
  for (const [kind, create] of Object.entries(factories)) {
    // Classes, which projects extend, begin with a capital letter.
    if (!/^[a-z]/.test(kind)) continue;
    factories[kind] = (options) => {
      check(kind, options ?? {});
      return create(options);
    };
  }
}

function check(kind: string, options: LayerOptions): void {
  for (const { name, kinds, isRefused, remedy } of refusedOptions) {
    const value = options[name];
    if ((kinds !== undefined && !kinds.includes(kind)) || !isRefused(value)) continue;
    throw new Error(`tf.layers.${kind} has no ${name} in TensorFlow.js (given: ${JSON.stringify(value)}). ${remedy}`);
  }
}

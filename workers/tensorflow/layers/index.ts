import { correctActivations } from './activations.ts';
import { correctConvolutions } from './convolutions.ts';
import { correctInitializers } from './initializers.ts';
import { registerInnerLayers } from './inner/index.ts';
import { correctMasks } from './masks.ts';
import { correctNormalization } from './normalization.ts';
import { refuseOptions } from './refused-options.ts';
import { keepRepeatedInputs } from './repeated-inputs.ts';
import { registerSampledDropout } from './sampled-dropout.ts';

/**
 * Corrects TensorFlow.js's layers in their classes, for all backends: what they refuse, ignore or compute wrongly. Adds
 * Tutti's own layers.
 */
export function correctLayers(): void {
  correctActivations();
  correctConvolutions();
  correctInitializers();
  correctMasks();
  correctNormalization();
  keepRepeatedInputs();
  registerSampledDropout();
  registerInnerLayers();
  refuseOptions();
}

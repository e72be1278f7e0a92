import { correctActivations } from './activations.ts';
import { correctConvolutions } from './convolutions.ts';
import { correctInitializers } from './initializers.ts';
import { correctNormalization } from './normalization.ts';
import { refuseOptions } from './refused-options.ts';

/** What TensorFlow.js's layers refuse, ignore or compute wrongly, mended in their classes for all backends. */
export function correctLayers(): void {
  correctActivations();
  correctConvolutions();
  correctInitializers();
  correctNormalization();
  refuseOptions();
}

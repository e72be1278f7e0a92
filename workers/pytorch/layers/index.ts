import { activationLayers } from './activations.ts';
import { imageLayers } from './channels.ts';
import type { ConvertToPython } from './context.ts';
import { convolutionLayers } from './convolutions.ts';
import { mergeLayers, shapeLayers } from './shapes.ts';
import { normalizationLayers } from './normalization.ts';
import { recurrentLayers } from './recurrent.ts';

/** The layers that can be written for PyTorch, by their classes in TensorFlow.js. */
export const pytorchLayers: ReadonlyMap<string, ConvertToPython> = new Map(
  Object.entries({
    ...activationLayers,
    ...convolutionLayers,
    ...imageLayers,
    ...mergeLayers,
    ...normalizationLayers,
    ...recurrentLayers,
    ...shapeLayers,
  }),
);

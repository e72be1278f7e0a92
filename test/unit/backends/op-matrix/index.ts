import { convolutionCases } from './convolution-cases.ts';
import { elementwiseCases } from './elementwise-cases.ts';
import { layerCases } from './layer-cases.ts';
import { lossCases } from './loss-cases.ts';
import type { OpCase } from './op-case.ts';
import { reductionCases } from './reduction-cases.ts';
import { structureCases } from './structure-cases.ts';

/** Every op that layers commonly train with, by the heading it has in docs/backends.md. */
export const opMatrix: ReadonlyMap<string, readonly OpCase[]> = new Map([
  ['Layers, in training', layerCases],
  ['Convolution and pooling', convolutionCases],
  ['Products and reductions', reductionCases],
  ['Shapes', structureCases],
  ['Elementwise', elementwiseCases],
  ['Losses', lossCases],
]);

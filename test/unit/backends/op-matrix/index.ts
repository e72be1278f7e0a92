import { convolutionCases } from './cases/convolution-cases.ts';
import { elementwiseCases } from './cases/elementwise-cases.ts';
import { layerCases } from './cases/layer-cases.ts';
import { lossCases } from './cases/loss-cases.ts';
import type { OpCase } from './op-case.ts';
import { reductionCases } from './cases/reduction-cases.ts';
import { structureCases } from './cases/structure-cases.ts';

/** Every op that layers commonly train with, by its heading in docs/backends.md. */
export const opMatrix: ReadonlyMap<string, readonly OpCase[]> = new Map([
  ['Layers, in training', layerCases],
  ['Convolution and pooling', convolutionCases],
  ['Products and reductions', reductionCases],
  ['Shapes', structureCases],
  ['Elementwise', elementwiseCases],
  ['Losses', lossCases],
]);

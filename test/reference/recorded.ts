import { readGolden } from '../golden/read-golden.ts';
import { spread } from '../unit/backends/kernels/fill.ts';
import { matMul } from './arrays.ts';
import { layers, type LayerName, type LayerOptions } from './layers.ts';
import * as losses from './losses.ts';
import { sizeOf, Value } from './value.ts';

/** A layer, op or loss with PyTorch's results in float64, from `test/golden/layers/make_layers.py`. */
export interface RecordedCase {
  readonly layer: string;
  readonly options: LayerOptions;
  /** Shapes of inputs and weights. */
  readonly shapes: readonly number[][];
  readonly seed: number;
  readonly factor: number;
  /** Indices of positive inputs. */
  readonly positive?: readonly number[];
  readonly shape: readonly number[];
  readonly value: readonly number[];
  /** Gradients of Σ value · dy by each input, or null where PyTorch has none (moving moments). */
  readonly gradients: readonly (readonly number[] | null)[];
}

export const recordedFiles = ['convolutions', 'pools', 'others'] as const;

export function recordedCases(file: (typeof recordedFiles)[number]): RecordedCase[] {
  return (readGolden(`layers/${file}.json`) as { cases: RecordedCase[] }).cases;
}

/** For a test's name, e.g. `conv1d {"kernelSize":[1]} of [1, 2, 3] [1, 3, 4]`. */
export function nameOf({ layer, options, shapes }: RecordedCase): string {
  return `${layer} ${JSON.stringify(options)} of ${shapes.map((shape) => `[${shape.join(', ')}]`).join(' ')}`;
}

/** The values of input k, exact in float32. */
export function inputOf({ shapes, seed, factor, positive = [] }: RecordedCase, k: number): Float32Array<ArrayBuffer> {
  const values = spread(sizeOf(shapes[k]), seed + k);
  return values.map((value) => (positive.includes(k) ? 0.5 + Math.abs(value) / 2 : factor * value));
}

/** The output gradient. */
export function outputGradientOf({ shape, seed }: RecordedCase): Float32Array<ArrayBuffer> {
  return spread(sizeOf(shape), seed + 99);
}

/** Targets of a recorded loss, |spread|. */
export function targetsOf({ options, shapes }: RecordedCase): Float32Array<ArrayBuffer> {
  return spread(sizeOf(shapes[0]), options.targets as number).map(Math.abs);
}

/** The result of the reference in this folder for a recorded case. */
export function computeReference(testCase: RecordedCase, inputs: readonly Value[]): Value {
  const { layer, options } = testCase;
  if (layer in layers) return layers[layer as LayerName](inputs, options);
  const [a, b] = inputs;
  const targets = () => new Value(targetsOf(testCase), a.shape);
  switch (layer) {
    case 'matMul':
      return matMul(a, b, options.transposeA as boolean, options.transposeB as boolean);
    case 'crossEntropy':
      return losses.crossEntropy(a, options.labels as number[]);
    case 'sigmoidCrossEntropy':
      return losses.sigmoidCrossEntropy(targets(), a);
    case 'meanSquaredError':
      return losses.meanSquaredError(targets(), a);
    case 'gaussianNll':
      return losses.gaussianNll(a, b, targets());
    default:
      throw new Error(`A case of ${layer} is recorded, but test/reference has no such layer or op.`);
  }
}

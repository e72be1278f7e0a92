import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, Tensor } from '@tensorflow/tfjs-core';

/**
 * Gradients of resized images: products of dy with the weights that the forward pass gives each pixel. On tfjs's cpu
 * backend they are wrong unless both sides are enlarged by the same factor, and no backend supports half-pixel centers
 * in them.
 */
export const resizeGradients: readonly GradConfig[] = [
  resizeGradient('ResizeBilinear', linearParts),
  resizeGradient('ResizeNearestNeighbor', nearestParts),
];

interface Alignment {
  readonly alignCorners: boolean;
  readonly halfPixelCenters: boolean;
}

/** The source positions of one value of a resized axis, with their weights. */
type Parts = (
  place: number,
  ratio: number,
  from: number,
  alignment: Alignment,
) => readonly (readonly [number, number])[];

function resizeGradient(kernelName: string, parts: Parts): GradConfig {
  return {
    kernelName,
    inputsToSave: ['images'],
    gradFunc: (dy, [images], attributes) => ({
      images: () => resizeBack(dy as Tensor, images.shape, parts, attributes),
    }),
  };
}

/** Rᵀ dy C for the weights R `[H, h]` of rows and C `[W, w]` of columns: from `[B, H, W, K]` to `[B, h, w, K]`. */
function resizeBack(dy: Tensor, shape: number[], parts: Parts, attributes: NamedAttrMap): Tensor {
  const [batch, height, width, channels] = shape;
  const [, toHeight, toWidth] = dy.shape;
  const alignment = attributes as unknown as Alignment;
  const rows = axisWeights(height, toHeight, parts, alignment);
  const columns = axisWeights(width, toWidth, parts, alignment);
  const tall = core.matMul(rows, core.reshape(dy, [batch, toHeight, toWidth * channels]), true);
  const wide = core.matMul(columns, core.reshape(tall, [batch * height, toWidth, channels]), true);
  return core.reshape(wide, shape);
}

/** The weights of an axis, `[1, to, from]`. */
function axisWeights(from: number, to: number, parts: Parts, alignment: Alignment): Tensor {
  const weights = new Float32Array(to * from);
  const ratio = alignment.alignCorners && to > 1 ? (from - 1) / (to - 1) : from / to;
  for (let i = 0; i < to; i++) {
    for (const [place, weight] of parts(i, ratio, from, alignment)) weights[i * from + place] += weight;
  }
  return core.tensor(weights, [1, to, from]);
}

function linearParts(i: number, ratio: number, from: number, { halfPixelCenters }: Alignment) {
  const position = halfPixelCenters ? (i + 0.5) * ratio - 0.5 : i * ratio;
  const low = Math.max(0, Math.floor(position));
  const high = Math.min(from - 1, Math.ceil(position));
  return [[low, 1 - (position - low)] as const, [high, position - low] as const];
}

function nearestParts(i: number, ratio: number, from: number, { alignCorners, halfPixelCenters }: Alignment) {
  const position = halfPixelCenters ? (i + 0.5) * ratio : i * ratio;
  const nearest = alignCorners ? Math.round(position) : Math.floor(position);
  return [[Math.max(0, Math.min(from - 1, nearest)), 1] as const];
}

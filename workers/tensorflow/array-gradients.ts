import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, Tensor } from '@tensorflow/tfjs-core';

/** Gradients of array ops that TensorFlow.js lacks or has wrong, for every backend. */
export const arrayGradients: readonly GradConfig[] = [
  // tfjs fails on a single part, whose gradient is a tensor instead of a list.
  { kernelName: 'Unpack', gradFunc: (dy, _, { axis }) => ({ value: () => core.stack(listOf(dy), axis as number) }) },
  { kernelName: 'SplitV', gradFunc: (dy, _, { axis }) => ({ x: () => core.concat(listOf(dy), axis as number) }) },
  {
    kernelName: 'MirrorPad',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attributes) => ({ x: () => mirrorPadGradient(dy as Tensor, x.shape, attributes) }),
  },
];

function listOf(dy: Tensor | Tensor[]): Tensor[] {
  return Array.isArray(dy) ? dy : [dy];
}

/** Adds the gradients of each value's mirror images to its gradient; tfjs ignores them. */
function mirrorPadGradient(dy: Tensor, shape: number[], { paddings, mode }: NamedAttrMap): Tensor {
  const edge = mode === 'reflect' ? 1 : 0;
  return (paddings as [number, number][]).reduce(
    (gradient, [before, after], axis) => foldAxis(gradient, axis, shape[axis], { before, after, edge }),
    dy,
  );
}

/** `edge` is 1 if the outermost value is not mirrored. */
function foldAxis(
  dy: Tensor,
  axis: number,
  size: number,
  { before, after, edge }: { before: number; after: number; edge: number },
): Tensor {
  const part = (begin: number, length: number): Tensor =>
    core.slice(
      dy,
      dy.shape.map((_, a) => (a === axis ? begin : 0)),
      dy.shape.with(axis, length),
    );
  const image = (begin: number, length: number, at: number): Tensor =>
    core.pad(
      core.reverse(part(begin, length), axis),
      dy.shape.map((_, a): [number, number] => (a === axis ? [at, size - at - length] : [0, 0])),
    );
  return [
    ...(before > 0 ? [image(0, before, edge)] : []),
    ...(after > 0 ? [image(before + size, after, size - edge - after)] : []),
  ].reduce((sum, images) => core.add(sum, images), part(before, size));
}

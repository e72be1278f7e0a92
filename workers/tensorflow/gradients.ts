import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, NamedTensorMap, Tensor, Tensor4D } from '@tensorflow/tfjs-core';
import { conv3dGradient, conv3dTransposeGradient } from './convolution-3d-gradients.ts';
import { resizeGradients } from './resize-gradients.ts';

/**
 * Registers gradients that TensorFlow.js lacks, has wrong, or computes in more passes than needed. They work on every
 * backend, and use a kernel that only some backends have if it exists.
 */
export function registerGradients(): void {
  for (const config of [
    absGradient,
    conv2dGradient,
    fusedConv2dGradient,
    fusedMatMulGradient,
    depthwiseGradient,
    ...gradientsOfExtremes,
    conv3dGradient,
    conv3dTransposeGradient,
  ]) {
    core.registerGradient(config);
  }
  for (const config of [...arrayGradients, ...resizeGradients]) core.registerGradient(config);
  // In a bundle for browsers, which trains nothing, the ops are constants of their module.
  const isOpen = Object.getOwnPropertyDescriptor(core.fused, 'conv2d')?.writable === true;
  if (isOpen) Object.assign(core.fused, { conv2d: fusedConv2d, depthwiseConv2d: fusedDepthwiseConv2d });
}

type Pair = [number, number];

/** sign(x), as in PyTorch and Keras. tfjs's gradient is -1 at 0, so that an L1 penalty drives weights away from 0. */
const absGradient: GradConfig = {
  kernelName: 'Abs',
  inputsToSave: ['x'],
  gradFunc: (dy, [x]) => ({ x: () => core.mul(dy as Tensor, core.sign(core.cast(x, 'float32'))) }),
};

/** tfjs has no gradient for dilated windows. */
const conv2dGradient: GradConfig = {
  kernelName: 'Conv2D',
  inputsToSave: ['x', 'filter'],
  gradFunc: (dy, [x, filter], attributes) => convolutionGradients('Conv2D', dy as Tensor, x, filter, attributes),
};

const depthwiseGradient: GradConfig = {
  kernelName: 'DepthwiseConv2dNative',
  inputsToSave: ['x', 'filter'],
  gradFunc: (dy, [x, filter], attributes) =>
    convolutionGradients('DepthwiseConv2dNative', dy as Tensor, x, filter, attributes),
};

/** tfjs splits bias and activation off while a tape records; with this gradient they stay one kernel. */
const fusedConv2dGradient: GradConfig = {
  kernelName: 'FusedConv2D',
  inputsToSave: ['x', 'filter'],
  outputsToSave: [true],
  gradFunc: (dy, [x, filter, y], attributes) => {
    const inner = attributes.activation === 'relu' ? maskByOutput(dy as Tensor, y) : (dy as Tensor);
    return {
      ...convolutionGradients('Conv2D', inner, x, filter, attributes),
      bias: () => core.sum(inner, [0, 1, 2]),
    };
  },
};

/**
 * For stacks of products without transposes, which stacked members use. tfjs's own op defines its gradient separately.
 */
const fusedMatMulGradient: GradConfig = {
  kernelName: '_FusedMatMul',
  inputsToSave: ['a', 'b'],
  outputsToSave: [true],
  gradFunc: (dy, [a, b, y], attributes) => {
    const inner = attributes.activation === 'relu' ? maskByOutput(dy as Tensor, y) : (dy as Tensor);
    // Kernels instead of ops: the ops' checks and conversions are not needed here, and take noticeable time in small
    // steps.
    const run = (kernel: string, inputs: NamedTensorMap, how: NamedAttrMap): Tensor =>
      core.engine().runKernel(kernel, inputs, how);
    return {
      a: () => sumTo(run('BatchMatMul', { a: inner, b }, { transposeA: false, transposeB: true }), a.shape),
      b: () => sumTo(run('BatchMatMul', { a, b: inner }, { transposeA: true, transposeB: false }), b.shape),
      bias: () => run('Sum', { x: inner }, { axis: [1], keepDims: true }),
    };
  },
};

/** dy where y = relu(x) is above 0, else 0. */
function maskByOutput(dy: Tensor, y: Tensor): Tensor {
  // Tutti's kernel has no gradient. Only an open tape would need one.
  const hasKernel = core.getKernel('ReluGradient', core.getBackend()) !== undefined;
  if (!hasKernel || core.engine().isTapeOn()) return core.mul(dy, core.step(y));
  return core.engine().runKernel('ReluGradient', { x: y, dy });
}

type Convolution = 'Conv2D' | 'DepthwiseConv2dNative';

/** Gradients with respect to images and filter, each computed on request. */
function convolutionGradients(kernel: Convolution, dy: Tensor, x: Tensor, filter: Tensor, attributes: NamedAttrMap) {
  const dilations = pairOf(attributes.dilations);
  const [height, width] = dilations;
  const run = (name: string, inputs: NamedTensorMap, shape: NamedAttrMap): Tensor =>
    core.engine().runKernel(`${kernel}${name}`, inputs, { ...attributes, dilations, ...shape });
  if ((height === 1 && width === 1) || core.getBackend() === 'wasm') {
    return {
      x: () => run('BackpropInput', { dy, filter }, { inputShape: x.shape }),
      filter: () => run('BackpropFilter', { x, dy }, { filterShape: filter.shape }),
    };
  }
  // A dilated filter is a larger filter with zeros between its values, and has the same gradients.
  const shape = dilatedShape(filter.shape, height, width);
  return {
    x: () => run('BackpropInput', { dy, filter: dilate(filter, height, width) }, { inputShape: x.shape, dilations: 1 }),
    filter: () => {
      const gradient = run('BackpropFilter', { x, dy }, { filterShape: shape, dilations: 1 });
      return core.stridedSlice(gradient, [0, 0, 0, 0], shape, [height, width, 1, 1]);
    },
  };
}

export function pairOf(value: NamedAttrMap[string]): Pair {
  return Array.isArray(value) ? (value as Pair) : [Number(value ?? 1), Number(value ?? 1)];
}

function dilatedShape([kernelHeight, kernelWidth, ...rest]: number[], height: number, width: number): number[] {
  return [(kernelHeight - 1) * height + 1, (kernelWidth - 1) * width + 1, ...rest];
}

/** The filter with zeros inserted between its rows and columns. */
export function dilate(filter: Tensor, height: number, width: number): Tensor {
  const [kernelHeight, kernelWidth, inputs, outputs] = filter.shape;
  const spread = core.pad(core.reshape(filter, [kernelHeight, 1, kernelWidth, 1, inputs * outputs]), [
    [0, 0],
    [0, height - 1],
    [0, 0],
    [0, width - 1],
    [0, 0],
  ]);
  const whole = core.reshape(spread, [kernelHeight * height, kernelWidth * width, inputs, outputs]);
  return core.slice(whole, [0, 0, 0, 0], dilatedShape(filter.shape, height, width));
}

const unfusedConv2d = core.fused.conv2d;
const ownFusedDepthwiseConv2d = core.fused.depthwiseConv2d;

/** The slope of `tf.leakyRelu`. tfjs leaves it undefined in fused convolutions; kernels then compute NaN or use 0. */
const slope = 0.2;

function fusedDepthwiseConv2d(options: Parameters<typeof ownFusedDepthwiseConv2d>[0]): Tensor {
  return ownFusedDepthwiseConv2d({ ...options, leakyreluAlpha: options.leakyreluAlpha ?? slope });
}

/**
 * Replaces tfjs's op of the same name, which layers call. Without an activation or with ReLU it stays one kernel even
 * while a tape records, and has gradients for dilated windows. With other activations it calls tfjs's op, which then
 * calls `conv2d`.
 */
function fusedConv2d(options: Parameters<typeof unfusedConv2d>[0]): Tensor {
  const { x, filter, strides, pad, dataFormat = 'NHWC', dilations = [1, 1], dimRoundingMode, bias } = options;
  const activation = options.activation ?? 'linear';
  const isTensor4 = x instanceof core.Tensor && x.rank === 4 && filter instanceof core.Tensor;
  const isChannelBias = bias instanceof core.Tensor && bias.rank === 1;
  const fits = isTensor4 && (isChannelBias || bias === undefined || bias === null);
  if (!fits || dataFormat !== 'NHWC' || (activation !== 'linear' && activation !== 'relu')) {
    // For an undefined slope kernels use 0 or NaN, but the gradient uses that of tf.leakyRelu.
    const whole = { ...options, leakyreluAlpha: options.leakyreluAlpha ?? slope };
    return unfusedConv2d(whole as Parameters<typeof unfusedConv2d<Tensor4D>>[0]);
  }
  const attributes = { strides, pad, dataFormat, dilations, dimRoundingMode, activation };
  const inputs: NamedTensorMap = isChannelBias ? { x, filter, bias } : { x, filter };
  return core.engine().runKernel('FusedConv2D', inputs, attributes as unknown as NamedAttrMap);
}

/** Gradients of array ops that TensorFlow.js lacks or has wrong, for every backend. */
const arrayGradients: readonly GradConfig[] = [
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

/**
 * Gradients of largest and smallest values. tfjs gives each of several equal values the whole gradient, gives none to
 * NaN, and returns a wrong shape for broadcast operands.
 */
const gradientsOfExtremes: readonly GradConfig[] = [
  { kernelName: 'Max', inputsToSave: ['x'], outputsToSave: [true], gradFunc: shareAmongEquals },
  { kernelName: 'Min', inputsToSave: ['x'], outputsToSave: [true], gradFunc: shareAmongEquals },
  {
    kernelName: 'Maximum',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => ({
      a: () => leaveOut(core.less(a, b), dy as Tensor, a.shape),
      b: () => leaveOut(core.greaterEqual(a, b), dy as Tensor, b.shape),
    }),
  },
  {
    kernelName: 'Minimum',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => ({
      a: () => leaveOut(core.greater(a, b), dy as Tensor, a.shape),
      b: () => leaveOut(core.lessEqual(a, b), dy as Tensor, b.shape),
    }),
  },
  {
    kernelName: 'SquaredDifference',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => {
      const slope = (sign: number): Tensor => core.mul(dy as Tensor, core.mul(core.sub(a, b), 2 * sign));
      return { a: () => sumTo(slope(1), a.shape), b: () => sumTo(slope(-1), b.shape) };
    },
  },
];

/**
 * Reductions over axes: equal values share dy evenly, as in TensorFlow and PyTorch (`amax`). Where y is NaN, all values
 * get NaN.
 */
function shareAmongEquals(dy: Tensor | Tensor[], [x, y]: Tensor[], attributes: NamedAttrMap) {
  const axes = core.util.parseAxisParam((attributes.reductionIndices ?? attributes.axis) as number[], x.shape);
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return {
    x: () => {
      // Not a cast: on webgpu it keeps integers, which sums over other axes than the last cannot read.
      const isExtreme = core.where(core.equal(x, core.reshape(y, kept)), core.onesLike(x), core.zerosLike(x));
      const share = core.div(core.reshape(dy as Tensor, kept), core.sum(isExtreme, axes, true));
      return core.mul(isExtreme, share);
    },
  };
}

/**
 * dy, with 0 where the condition holds. No condition holds for NaN, so both operands get dy; of two equal operands the
 * first gets it.
 */
function leaveOut(condition: Tensor, dy: Tensor, shape: number[]): Tensor {
  return sumTo(core.where(condition, core.zerosLike(dy), dy), shape);
}

/** The gradient of a tensor of this shape from the gradient of its broadcast. */
function sumTo(gradient: Tensor, shape: number[]): Tensor {
  if (gradient.shape.join() === shape.join()) return gradient;
  return core.reshape(core.sum(gradient, core.broadcast_util.getReductionAxes(shape, gradient.shape)), shape);
}

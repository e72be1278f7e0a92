import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, NamedAttrMap, NamedTensorMap, Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import { outputOf, replaceKernel, tensorOf } from './contract.ts';

/**
 * Corrects a backend's 3-D pools and convolutions, of volumes `[B, D, H, W, C]`. tfjs 4.22, and TensorFlow on processors
 * without AVX-512, compute a negative `same` padding where strides are larger than windows, which shifts the windows.
 */
export function correctVolumes(backendName: string): void {
  poolVolumesAsImages(backendName);
  for (const [name, kernel] of Object.entries(convolutions)) {
    replaceKernel(backendName, name, (own) => trimmed(own, kernel));
  }
}

/**
 * Replaces a backend's 3-D pools with pools over images. The gradients of tfjs 4.22 are wrong for windows that are not
 * cubes or cover padding; TensorFlow's own max pool gives the whole gradient to each of several equal values.
 */
function poolVolumesAsImages(backendName: string): void {
  for (const [kernelName, pool] of Object.entries(pools)) {
    core.unregisterKernel(kernelName, backendName);
    const kernelFunc: KernelFunc = ({ inputs, attrs }) => core.tidy(() => pool(inputs as NamedTensorMap, attrs ?? {}));
    core.registerKernel({ kernelName, backendName, kernelFunc });
  }
}

/**
 * A pool over volumes is a pool over the images of all slices, then one over the depth: the largest of the largest
 * values, the mean of the means. The first slice's first one of equal values wins, as in a single pass.
 */
const pools: Record<string, (inputs: NamedTensorMap, attributes: NamedAttrMap) => Tensor> = {
  MaxPool3D: ({ x }, attributes) => poolVolumes('MaxPool', x, attributes),
  AvgPool3D: ({ x }, attributes) => poolVolumes('AvgPool', x, attributes),
  MaxPool3DGrad: ({ dy, input, output }, attributes) => {
    const steps = describeSteps(input.shape, attributes);
    const images = core.reshape(input, steps.images);
    const slices = run('MaxPool', { x: images }, steps.overImages);
    const [x, slope, y] = [asColumns(slices, input), asColumns(dy, dy), asColumns(output, output)];
    const ofColumns = run('MaxPoolGrad', { dy: slope, input: x, output: y }, steps.overDepth);
    const ofSlices = core.reshape(ofColumns, slices.shape);
    const ofImages = run('MaxPoolGrad', { dy: ofSlices, input: images, output: slices }, steps.overImages);
    return core.reshape(ofImages, input.shape);
  },
  AvgPool3DGrad: ({ dy, input }, attributes) => {
    const steps = describeSteps(input.shape, attributes);
    // The gradient's kernel uses only the shape of its input.
    const slices = core.zeros([steps.images[0], ...dy.shape.slice(2)]);
    const inputs = { dy: asColumns(dy, dy), input: asColumns(slices, input) };
    const ofSlices = core.reshape(run('AvgPoolGrad', inputs, steps.overDepth), slices.shape);
    const ofImages = run('AvgPoolGrad', { dy: ofSlices, input: core.reshape(input, steps.images) }, steps.overImages);
    return core.reshape(ofImages, input.shape);
  },
};

function run(kernel: string, inputs: NamedTensorMap, attributes: NamedAttrMap): Tensor {
  return core.engine().runKernel(kernel, inputs, attributes);
}

function poolVolumes(kernel: 'MaxPool' | 'AvgPool', x: Tensor, attributes: NamedAttrMap): Tensor {
  const steps = describeSteps(x.shape, attributes);
  const slices = run(kernel, { x: core.reshape(x, steps.images) }, steps.overImages);
  const pooled = run(kernel, { x: asColumns(slices, x) }, steps.overDepth);
  return core.reshape(pooled, [...pooled.shape.slice(0, 2), ...slices.shape.slice(1)]);
}

/**
 * Slices `[..., h, w, C]` of volumes `[B, D, ...]` as columns `[B, D, h · w, C]`; a window over the depth is 1 column
 * wide.
 */
function asColumns(slices: Tensor, volumes: Tensor): Tensor {
  const [height, width, channels] = slices.shape.slice(-3);
  return core.reshape(slices, [...volumes.shape.slice(0, 2), height * width, channels]);
}

/** The two pools over images: of all slices `[B · D, H, W, C]`, and of columns. */
function describeSteps(shape: readonly number[], { filterSize, strides, pad, dimRoundingMode }: NamedAttrMap) {
  const [[depth, ...window], [step, ...steps]] = [triple(filterSize), triple(strides)];
  const around = (rows: number, columns: number) => [0, rows, columns, 0].map((size) => [size, size]);
  const [imagePad, depthPad] = typeof pad === 'number' ? [around(pad, pad), around(pad, 0)] : [pad, pad];
  const overImages = { filterSize: window, strides: steps, pad: imagePad, dimRoundingMode };
  const overDepth = { filterSize: [depth, 1], strides: [step, 1], pad: depthPad, dimRoundingMode };
  return {
    images: [shape[0] * shape[1], ...shape.slice(2)],
    overImages: overImages as unknown as NamedAttrMap,
    overDepth: overDepth as unknown as NamedAttrMap,
  };
}

/** Where a convolution's kernel takes its volumes and its filter's shape from. */
interface VolumeConvolution {
  /** Whether the volumes are the input x. If not, they are the result, and their shape is `attributes.inputShape`. */
  readonly takesVolumes: boolean;
  readonly filterShape: (filter: TensorInfo | undefined, attributes: NamedAttrMap) => readonly number[];
}

const convolutions: Record<string, VolumeConvolution> = {
  Conv3D: { takesVolumes: true, filterShape: (filter) => shapeOf(filter) },
  Conv3DBackpropInputV2: { takesVolumes: false, filterShape: (filter) => shapeOf(filter) },
  Conv3DBackpropFilterV2: { takesVolumes: true, filterShape: (_, { filterShape }) => filterShape as number[] },
};

/** Crops the volumes to what the windows reach, so that tfjs computes no negative padding. */
function trimmed(own: KernelFunc, { takesVolumes, filterShape }: VolumeConvolution): KernelFunc {
  return (call) => {
    const { inputs, attrs = {} } = call;
    if (attrs.pad !== 'same') return own(call);
    const whole = takesVolumes ? shapeOf(inputs.x) : (attrs.inputShape as number[]);
    const shape = reached(whole, filterShape(inputs.filter, attrs), attrs);
    if (shape.join() === whole.join()) return own(call);
    const begin = whole.map(() => 0);
    return core.tidy(() => {
      const given = takesVolumes
        ? { inputs: { ...inputs, x: core.slice(tensorOf(inputs.x), begin, shape) } }
        : { attrs: { ...attrs, inputShape: shape } };
      const result = outputOf(own({ ...call, ...given }));
      if (takesVolumes) return result;
      return core.pad(
        result,
        whole.map((size, axis) => [0, size - shape[axis]]),
      );
    });
  };
}

/** Not `tensorOf`: if another backend borrows this kernel, its inputs are not tensors. */
function shapeOf(input: TensorInfo | undefined): number[] {
  if (input === undefined) throw new Error('A convolution was called without one of its inputs.');
  return input.shape;
}

/** The shape of the volumes, cropped after the last window. */
function reached(shape: readonly number[], filter: readonly number[], attributes: NamedAttrMap): number[] {
  const [strides, dilations] = [triple(attributes.strides), triple(attributes.dilations ?? 1)];
  return shape.map((size, axis) => {
    if (axis === 0 || axis === 4) return size;
    const [stride, span] = [strides[axis - 1], (filter[axis - 1] - 1) * dilations[axis - 1] + 1];
    return Math.min(size, (Math.ceil(size / stride) - 1) * stride + span);
  });
}

function triple(value: NamedAttrMap[string]): number[] {
  return Array.isArray(value) ? (value as number[]) : [Number(value), Number(value), Number(value)];
}

import * as core from '@tensorflow/tfjs-core';
import type { Tensor, Tensor4D } from '@tensorflow/tfjs-core';
import {
  type Compute,
  factories,
  linear,
  methodsOf,
  replaceCall,
  type TensorflowLayer,
  viewOf,
} from './tensorflow-layers.ts';

type Pair = [number, number];

/** Convolutions with options that TensorFlow.js refuses, or ignores without a word. */
export function correctConvolutions(): void {
  correctConv1d();
  correctDepthwise();
  correctSeparable();
}

/** `causal` has zeros before the sequence, so that y[t] depends on x up to t. tfjs leaves the result of `channelsFirst` transposed. */
function correctConv1d(): void {
  const methods = methodsOf('conv1d', { filters: 1, kernelSize: 1 });
  const { computeOutputShape } = methods;
  methods.computeOutputShape = function outputShape(this: TensorflowLayer, inputShape) {
    // Padded by all of the window but one, a sequence keeps its length, as with `same`.
    const layer = this.padding === 'causal' ? viewOf(this, { padding: 'same' }) : this;
    return computeOutputShape.call(layer, inputShape);
  };
  replaceCall(methods, (layer, x, stock) => {
    const isCausal = layer.padding === 'causal';
    if (!isCausal && layer.dataFormat === 'channelsLast') return stock(layer, x);
    return channelsLast(layer, x, (view, sequences) => {
      if (!isCausal) return stock(view, sequences);
      const before = (layer.kernelSize[0] - 1) * layer.dilationRate[0];
      const padded = core.pad(sequences, [
        [0, 0],
        [before, 0],
        [0, 0],
      ]);
      return stock(viewOf(view, { padding: 'valid' }), padded);
    });
  });
}

/** tfjs's layer ignores `dilationRate`. */
function correctDepthwise(): void {
  const methods = methodsOf('depthwiseConv2d', { kernelSize: 1 });
  const { computeOutputShape } = methods;
  methods.computeOutputShape = function outputShape(this: TensorflowLayer, inputShape) {
    const kernelSize = this.kernelSize.map((size, axis) => (size - 1) * this.dilationRate[axis] + 1);
    return computeOutputShape.call(viewOf(this, { kernelSize }), inputShape);
  };
  replaceCall(methods, (layer, x, stock) => {
    if (layer.dilationRate.every((rate) => rate === 1)) return stock(layer, x);
    return channelsLast(layer, x, ({ depthwiseKernel, strides, padding, dilationRate, bias }, images) => {
      const kernel = depthwiseKernel.read() as Tensor4D;
      const [stride, dilation] = [strides as Pair, dilationRate as Pair];
      const y = core.depthwiseConv2d(images as Tensor4D, kernel, stride, padding as 'same', 'NHWC', dilation);
      return bias === null ? y : core.add(y, bias.read());
    });
  });
}

/** tfjs adds the bias along the wrong axis with `channelsFirst`, and takes the depthwise initializer for both filters. */
function correctSeparable(): void {
  replaceCall(methodsOf('separableConv2d', { filters: 1, kernelSize: 1 }), (layer, x, stock) =>
    layer.dataFormat === 'channelsLast' ? stock(layer, x) : channelsLast(layer, x, stock),
  );
  const { separableConv2d } = factories;
  factories.separableConv2d = (options = {}) => {
    const layer = separableConv2d(options);
    layer.pointwiseInitializer = initializerOf(options.pointwiseInitializer ?? 'glorotUniform');
    return layer;
  };
}

/** Computes with channels last, whatever the layer's format; the activation comes after, as always. */
function channelsLast(layer: TensorflowLayer, x: Tensor, compute: Compute): Tensor {
  const axes = x.shape.slice(2).map((_, i) => i + 1);
  const [toLast, toFirst] = [
    [0, ...axes.map((axis) => axis + 1), 1],
    [0, x.rank - 1, ...axes],
  ];
  const view = viewOf(layer, { dataFormat: 'channelsLast', activation: linear });
  if (layer.dataFormat === 'channelsLast') return layer.activation.apply(compute(view, x));
  return layer.activation.apply(core.transpose(compute(view, core.transpose(x, toLast)), toFirst));
}

/** An initializer by its name or configuration, or itself: what a layer makes of the option. */
function initializerOf(option: unknown): object {
  const layer = factories.dense({ units: 1, kernelInitializer: option, name: 'initializer' });
  return (layer as unknown as { kernelInitializer: object }).kernelInitializer;
}

import { perAxis, transposed, type Weight } from '../../exchange/model-calls.ts';
import type { Attributes } from '../format/graph.ts';
import { activate } from './activations.ts';
import { channelsFirst, samePadding } from './channels.ts';
import type { Convert, LayerContext } from './context.ts';

function windowAttributes(context: LayerContext, rank: number): Attributes {
  const { config } = context;
  const window = perAxis(config.kernelSize, rank);
  const strides = perAxis(config.strides, rank);
  const dilations = perAxis(config.dilationRate, rank);
  const own = { strides, dilations };
  if (config.padding === 'same') return { ...own, ...samePadding(context, { window, strides, dilations }) };
  return config.padding === 'causal' ? { ...own, pads: [(window[0] - 1) * dilations[0], 0] } : own;
}

/** Applies the activation. Softmax is over the last axis, whatever the order of the axes. */
function finish(context: LayerContext, y: string): string {
  return activate(context.graph, y, context.config.activation);
}

function biasOf(context: LayerContext): string[] {
  return context.weightIfAny('bias') === null ? [] : [context.stored('bias')];
}

/** Filters `[...window, inputs, outputs]` become `[outputs, inputs, ...window]`. */
const convolution =
  (rank: number): Convert =>
  (context) => {
    const { graph } = context;
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    const filter = context.stored('kernel', transposed(context.weight('kernel'), [rank + 1, rank, ...axes]));
    const attributes = windowAttributes(context, rank);
    return finish(
      context,
      channelsFirst(context, (x) => graph.op('Conv', [x, filter, ...biasOf(context)], attributes)),
    );
  };

/**
 * Filters `[...window, outputs, inputs]` become `[inputs, outputs, ...window]`. The output has s·n values along an axis
 * with `same`, s·n + max(k − s, 0) with `valid`.
 */
const transposedConvolution =
  (rank: number): Convert =>
  (context) => {
    const { graph, config } = context;
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    const filter = context.stored('kernel', transposed(context.weight('kernel'), [rank + 1, rank, ...axes]));
    const [window, strides] = [perAxis(config.kernelSize, rank), perAxis(config.strides, rank)];
    const cut = window.map((size, axis) => (config.padding === 'same' ? Math.max(size - strides[axis], 0) : 0));
    const before = cut.map((size) => Math.floor(size / 2));
    const attributes = {
      strides,
      pads: [...before, ...cut.map((size, axis) => size - before[axis])],
      output_padding: window.map((size, axis) => Math.max(strides[axis] - size, 0)),
    };
    return finish(
      context,
      channelsFirst(context, (x) => graph.op('ConvTranspose', [x, filter, ...biasOf(context)], attributes)),
    );
  };

/** Filters `[...window, C, multiplier]` become `[C · multiplier, 1, ...window]`, one group for each channel. */
function depthwiseFilter({ shape, data }: Weight): { filter: Weight; group: number } {
  const [height, width, channels, multiplier] = shape;
  const grouped = transposed({ shape: [height, width, channels * multiplier], data }, [2, 0, 1]);
  return { filter: { shape: [channels * multiplier, 1, height, width], data: grouped.data }, group: channels };
}

function depthwiseConvolution(context: LayerContext, name: string, x: string, bias: readonly string[]): string {
  const { filter, group } = depthwiseFilter(context.weight(name));
  const attributes = { ...windowAttributes(context, 2), group };
  return context.graph.op('Conv', [x, context.stored(name, filter), ...bias], attributes);
}

const depthwise: Convert = (context) =>
  finish(
    context,
    channelsFirst(context, (x) => depthwiseConvolution(context, 'depthwise_kernel', x, biasOf(context))),
  );

const separable: Convert = (context) => {
  const pointwise = context.stored('pointwise_kernel', transposed(context.weight('pointwise_kernel'), [3, 2, 0, 1]));
  return finish(
    context,
    channelsFirst(context, (x) => {
      const inner = depthwiseConvolution(context, 'depthwise_kernel', x, []);
      return context.graph.op('Conv', [inner, pointwise, ...biasOf(context)]);
    }),
  );
};

export const convolutionLayers: Readonly<Record<string, Convert>> = {
  Conv1D: convolution(1),
  Conv2D: convolution(2),
  Conv3D: convolution(3),
  Conv2DTranspose: transposedConvolution(2),
  Conv3DTranspose: transposedConvolution(3),
  DepthwiseConv2D: depthwise,
  SeparableConv2D: separable,
};

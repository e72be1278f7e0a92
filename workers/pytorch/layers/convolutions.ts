import { perAxis, transposed } from '../../exchange/model-calls.ts';
import { tuple } from '../code/python-code.ts';
import { activate } from './activations.ts';
import { channelsFirst } from './channels.ts';
import type { ConvertToPython, PythonContext } from './context.ts';

/** The expression of x with the zeros around it that the layer's padding says, channels first. */
function padded({ code, config }: PythonContext, x: string, rank: number): string {
  const [window, strides, dilations] = [config.kernelSize, config.strides, config.dilationRate].map((option) =>
    perAxis(option, rank),
  );
  if (config.padding === 'causal') return `F.pad(${x}, (${(window[0] - 1) * dilations[0]}, 0))`;
  if (config.padding !== 'same' || window.every((size) => size === 1)) return x;
  return `${code.library('pad_same')}(${x}, ${tuple(window)}, ${tuple(strides)}, ${tuple(dilations)})`;
}

function windowArguments({ config }: PythonContext, rank: number): string {
  const dilations = perAxis(config.dilationRate, rank);
  const dilation = dilations.every((rate) => rate === 1) ? '' : `, dilation=${tuple(dilations)}`;
  return `${tuple(perAxis(config.kernelSize, rank))}, stride=${tuple(perAxis(config.strides, rank))}${dilation}`;
}

/** The activation of the layer's result. */
function finish({ code, config }: PythonContext, y: string): string {
  return activate(code, y, config.activation);
}

/** Filters `[...window, inputs, outputs]` become `[outputs, inputs, ...window]`. */
const convolution =
  (rank: number): ConvertToPython =>
  (context) => {
    const { code, name, hasBias } = context;
    const kernel = context.weight('kernel');
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    const weight = transposed(kernel, [rank + 1, rank, ...axes]);
    const sizes = `${weight.shape[1]}, ${weight.shape[0]}, ${windowArguments(context, rank)}`;
    code.module(name, `nn.Conv${rank}d(${sizes}, bias=${hasBias})`, { weight, ...context.bias() });
    return finish(
      context,
      channelsFirst(context, (x) => `self.${name}(${padded(context, x, rank)})`),
    );
  };

/** PyTorch pads both sides alike, so the whole result is computed and then cut. */
const transposedConvolution =
  (rank: number): ConvertToPython =>
  (context) => {
    const { code, name, hasBias, config, inputs } = context;
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    const weight = transposed(context.weight('kernel'), [rank + 1, rank, ...axes]);
    const [window, strides] = [perAxis(config.kernelSize, rank), perAxis(config.strides, rank)];
    const missing = window.map((size, axis) => Math.max(strides[axis] - size, 0));
    const constructor =
      `nn.ConvTranspose${rank}d(${weight.shape[0]}, ${weight.shape[1]}, ${tuple(window)}, stride=${tuple(strides)}, ` +
      `output_padding=${tuple(missing)}, bias=${hasBias})`;
    code.module(name, constructor, { weight, ...context.bias() });
    const over = window.map((size, axis) => (config.padding === 'same' ? Math.max(size - strides[axis], 0) : 0));
    const start = config.dataFormat === 'channelsFirst' ? 2 : 1;
    const sizes = strides.map((stride, axis) => `${inputs[0].name}.shape[${start + axis}] * ${stride}`);
    const starts = tuple(over.map((size) => Math.floor(size / 2)));
    const isWhole = over.every((size) => size === 0);
    return finish(
      context,
      channelsFirst(context, (x) =>
        isWhole ? `self.${name}(${x})` : `${code.library('cut')}(self.${name}(${x}), ${starts}, [${sizes.join(', ')}])`,
      ),
    );
  };

/**
 * Filters `[...window, C, multiplier]` become `[C · multiplier, 1, ...window]`, one group for each channel.
 * @returns the call
 */
function depthwiseModule(context: PythonContext, attribute: string, x: string, hasBias: boolean): string {
  const { shape, data } = context.weight('depthwise_kernel');
  const [height, width, channels, multiplier] = shape;
  const outputs = channels * multiplier;
  const moved = transposed({ shape: [height, width, outputs], data }, [2, 0, 1]);
  const weight = { shape: [outputs, 1, height, width], data: moved.data };
  const sizes = `${channels}, ${outputs}, ${windowArguments(context, 2)}, groups=${channels}`;
  const bias = hasBias ? context.bias() : {};
  const constructor = `nn.Conv2d(${sizes}, bias=${hasBias ? context.hasBias : 'False'})`;
  context.code.module(attribute, constructor, { weight, ...bias });
  return `self.${attribute}(${padded(context, x, 2)})`;
}

const depthwise: ConvertToPython = (context) =>
  finish(
    context,
    channelsFirst(context, (x) => depthwiseModule(context, context.name, x, true)),
  );

const separable: ConvertToPython = (context) => {
  const { code, name, hasBias } = context;
  const weight = transposed(context.weight('pointwise_kernel'), [3, 2, 0, 1]);
  const pointwise = `nn.Conv2d(${weight.shape[1]}, ${weight.shape[0]}, 1, bias=${hasBias})`;
  code.module(`${name}_pointwise`, pointwise, { weight, ...context.bias() });
  return finish(
    context,
    channelsFirst(context, (x) => `self.${name}_pointwise(${depthwiseModule(context, `${name}_depthwise`, x, false)})`),
  );
};

export const convolutionLayers: Readonly<Record<string, ConvertToPython>> = {
  Conv1D: convolution(1),
  Conv2D: convolution(2),
  Conv3D: convolution(3),
  Conv2DTranspose: transposedConvolution(2),
  Conv3DTranspose: transposedConvolution(3),
  DepthwiseConv2D: depthwise,
  SeparableConv2D: separable,
};

import { tf, type Tensor } from '../../../../workers/tf.ts';
import { opCase, type Draw, type OpCase } from './op-case.ts';

type Image = Parameters<typeof tf.conv2d>[0];
type Filter = Parameters<typeof tf.conv2d>[1];
type Padding = 'same' | 'valid' | [[number, number], [number, number], [number, number], [number, number]];

interface ConvolutionShape {
  input: [number, number, number, number];
  kernel: [number, number];
  strides: [number, number];
  dilations: [number, number];
  padding: Padding;
}

/** A random convolution, `[B, H, W, C]`. TensorFlow.js refuses strides and dilations above 1 at the same time. */
function drawConvolution(random: Draw, channels = random.integer(1, 9)): ConvolutionShape {
  const kernel: [number, number] = [random.integer(1, 4), random.integer(1, 4)];
  const dilated = random.integer(0, 3) === 0;
  const dilations: [number, number] = dilated ? [random.integer(1, 3), random.integer(1, 3)] : [1, 1];
  const strides: [number, number] = dilated ? [1, 1] : [random.integer(1, 3), random.integer(1, 3)];
  const span = kernel.map((size, axis) => (size - 1) * dilations[axis] + 1);
  const padding = random.pick<Padding>(['same', 'valid', explicitPadding(random, kernel)]);
  const input: [number, number, number, number] = [
    random.integer(1, 4),
    span[0] + random.integer(0, 8),
    span[1] + random.integer(0, 8),
    channels,
  ];
  return { input, kernel, strides, dilations, padding };
}

function explicitPadding(random: Draw, kernel: [number, number]): Padding {
  const around = (size: number): [number, number] => [random.integer(0, size - 1), random.integer(0, size - 1)];
  return [[0, 0], around(kernel[0]), around(kernel[1]), [0, 0]];
}

const conv2d = opCase('conv2d', (random) => {
  const { input, kernel, strides, dilations, padding } = drawConvolution(random);
  const filter = [...kernel, input[3], random.integer(1, 20)];
  return {
    inputs: [random.normal(input), random.normal(filter)],
    apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, strides, padding, 'NHWC', dilations),
  };
});

const pointwise = opCase('conv2d 1x1', (random) => {
  const input = [random.integer(1, 4), random.integer(1, 8), random.integer(1, 8), random.integer(1, 20)];
  const stride = random.integer(1, 2);
  return {
    inputs: [random.normal(input), random.normal([1, 1, input[3], random.integer(1, 20)])],
    apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, stride, 'valid'),
  };
});

/** Large enough that its columns take several blocks of scratch space. */
const largeConv2d = opCase('conv2d, large', (random) => ({
  inputs: [random.normal([2, 25, 23, 48]), random.normal([3, 3, 48, random.integer(2, 5)])],
  apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, 1, 'same'),
}));

const fusedConv2d = opCase('fused.conv2d', (random) => {
  const { input, kernel, strides, dilations, padding } = drawConvolution(random);
  const channels = random.integer(1, 12);
  const activation = random.pick(['linear', 'relu', 'relu6', 'elu', 'leakyrelu', 'sigmoid'] as const);
  return {
    inputs: [random.normal(input), random.normal([...kernel, input[3], channels]), random.normal([channels])],
    apply: ([x, filter, bias]) =>
      tf.fused.conv2d({ x: x as Image, filter: filter as Filter, strides, pad: padding, dilations, bias, activation }),
  };
});

const conv1d = opCase('conv1d', (random) => {
  const [width, channels] = [random.integer(1, 4), random.integer(1, 9)];
  const stride = random.integer(1, 2);
  return {
    inputs: [
      random.normal([random.integer(1, 4), width + random.integer(0, 9), channels]),
      random.normal([width, channels, random.integer(1, 9)]),
    ],
    apply: ([x, w]) => tf.conv1d(x as never, w as never, stride, 'same'),
  };
});

const conv2dTranspose = opCase('conv2dTranspose', (random) => {
  const [batch, height, width, channels] = [1, 2, 3, 4].map(() => random.integer(1, 6));
  const outputs = random.integer(1, 6);
  const strides: [number, number] = [random.integer(1, 3), random.integer(1, 3)];
  const kernel = [random.integer(1, 4), random.integer(1, 4)];
  const outputShape: [number, number, number, number] = [batch, height * strides[0], width * strides[1], outputs];
  return {
    inputs: [random.normal([batch, height, width, channels]), random.normal([...kernel, outputs, channels])],
    apply: ([x, w]) => tf.conv2dTranspose(x as Image, w as Filter, outputShape, strides, 'same'),
  };
});

const conv3d = opCase('conv3d', (random) => {
  const kernel = [random.integer(1, 3), random.integer(1, 3), random.integer(1, 3)];
  const channels = random.integer(1, 3);
  const stride = random.integer(1, 2);
  return {
    inputs: [
      random.normal([random.integer(1, 2), ...kernel.map((size) => size + random.integer(0, 3)), channels]),
      random.normal([...kernel, channels, random.integer(1, 4)]),
    ],
    apply: ([x, w]) => tf.conv3d(x as never, w as never, stride, 'same'),
  };
});

const depthwiseConv2d = opCase('depthwiseConv2d', (random) => {
  const { input, kernel, strides, dilations } = drawConvolution(random);
  const filter = [...kernel, input[3], random.integer(1, 3)];
  const padding = random.pick(['same', 'valid'] as const);
  return {
    inputs: [random.normal(input), random.normal(filter)],
    apply: ([x, w]) => tf.depthwiseConv2d(x as Image, w as Filter, strides, padding, 'NHWC', dilations),
  };
});

const fusedDepthwiseConv2d = opCase('fused.depthwiseConv2d', (random) => {
  const { input, kernel, strides, dilations } = drawConvolution(random);
  const padding = random.pick(['same', 'valid'] as const);
  const multiplier = random.integer(1, 3);
  const activation = random.pick(['linear', 'relu', 'relu6'] as const);
  return {
    inputs: [
      random.normal(input),
      random.normal([...kernel, input[3], multiplier]),
      random.normal([input[3] * multiplier]),
    ],
    apply: ([x, filter, bias]) =>
      tf.fused.depthwiseConv2d({
        x: x as Image,
        filter: filter as Filter,
        strides,
        pad: padding,
        dilations,
        bias,
        activation,
      }),
  };
});

const separableConv2d = opCase('separableConv2d', (random) => {
  const { input, kernel, strides } = drawConvolution(random);
  const multiplier = random.integer(1, 2);
  const pointwiseShape = [1, 1, input[3] * multiplier, random.integer(1, 9)];
  return {
    inputs: [random.normal(input), random.normal([...kernel, input[3], multiplier]), random.normal(pointwiseShape)],
    apply: ([x, depthwise, point]) =>
      tf.separableConv2d(x as Image, depthwise as Filter, point as Filter, [strides[0], strides[0]], 'same'),
  };
});

type Window = [number, number];
type Pool = (x: Image, size: Window, strides: Window, padding: 'same' | 'valid' | number) => Tensor;

function poolCase(op: string, pool: Pool): OpCase {
  return opCase(op, (random) => {
    const window: Window = [random.integer(1, 4), random.integer(1, 4)];
    const strides: Window = [random.integer(1, 3), random.integer(1, 3)];
    const padding = random.pick<'same' | 'valid'>(['same', 'valid']);
    const [height, width] = window.map((size) => size + random.integer(0, 9));
    const input = random.distinct([random.integer(1, 4), height, width, random.integer(1, 9)]);
    return { inputs: [input], apply: ([x]) => pool(x as Image, window, strides, padding) };
  });
}

function pool3dCase(op: string, pool: typeof tf.maxPool3d): OpCase {
  return opCase(op, (random) => {
    const window = random.integer(1, 3);
    const input = random.distinct([random.integer(1, 2), ...[1, 2, 3].map(() => window + random.integer(0, 3)), 2]);
    return { inputs: [input], apply: ([x]) => pool(x as never, window, 2, 'same') };
  });
}

export const convolutionCases: readonly OpCase[] = [
  conv2d,
  pointwise,
  largeConv2d,
  fusedConv2d,
  conv1d,
  conv2dTranspose,
  conv3d,
  depthwiseConv2d,
  fusedDepthwiseConv2d,
  separableConv2d,
  poolCase('maxPool', (x, size, strides, padding) => tf.maxPool(x, size, strides, padding)),
  poolCase('avgPool', (x, size, strides, padding) => tf.avgPool(x, size, strides, padding)),
  pool3dCase('maxPool3d', tf.maxPool3d),
  pool3dCase('avgPool3d', tf.avgPool3d),
];

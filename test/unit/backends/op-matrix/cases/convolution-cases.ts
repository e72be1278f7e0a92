import { tf, type Tensor } from '../../../../../workers/tensorflow/tf.ts';
import { add, apply, elu, leakyRelu } from '../../../../reference/elementwise.ts';
import type { Value } from '../../../../reference/value.ts';
import {
  averagePool,
  convolution,
  depthwiseConvolution,
  maxPool,
  transposedConvolution,
  type Windows,
} from '../../../../reference/windows.ts';
import { opCase, type Draw, type OpCase } from '../op-case.ts';

type Image = Parameters<typeof tf.conv2d>[0];
type Filter = Parameters<typeof tf.conv2d>[1];
type Pair = [number, number];
type Padding = 'same' | 'valid' | [Pair, Pair, Pair, Pair];

interface ConvolutionShape {
  input: [number, number, number, number];
  kernel: Pair;
  strides: Pair;
  dilations: Pair;
  padding: Padding;
}

/** A random convolution, `[B, H, W, C]`. TensorFlow.js refuses strides and dilations above 1 at the same time. */
function drawConvolution(random: Draw): ConvolutionShape {
  const kernel: Pair = [random.integer(1, 4), random.integer(1, 4)];
  const isDilated = random.rarely(4);
  const dilations: Pair = isDilated ? [random.integer(1, 3), random.integer(1, 3)] : [1, 1];
  const strides: Pair = isDilated ? [1, 1] : [random.integer(1, 3), random.integer(1, 3)];
  const span = kernel.map((size, axis) => (size - 1) * dilations[axis] + 1);
  const padding = random.pick<Padding>(['same', 'valid', explicitPadding(random, kernel)]);
  const [rows, columns] = span.map((size) => (padding === 'same' ? 1 : size) + random.integer(0, 6));
  return { input: [random.integer(1, 3), rows, columns, random.channels()], kernel, strides, dilations, padding };
}

function explicitPadding(random: Draw, kernel: Pair): Padding {
  const around = (size: number): Pair => [random.integer(0, size - 1), random.integer(0, size - 1)];
  return [[0, 0], around(kernel[0]), around(kernel[1]), [0, 0]];
}

function windowsOf({ kernel, strides, dilations, padding }: Omit<ConvolutionShape, 'input'>): Windows {
  return { window: kernel, strides, dilations, padding: typeof padding === 'string' ? padding : padding.slice(1, 3) };
}

const optionsOf = ({ strides, dilations, padding }: ConvolutionShape): object => ({ strides, dilations, padding });

const conv2d = opCase(
  'conv2d',
  (random) => {
    const shape = drawConvolution(random);
    const { input, kernel, strides, dilations, padding } = shape;
    return {
      inputs: [random.normal(input), random.normal([...kernel, input[3], random.integer(1, 20)])],
      options: optionsOf(shape),
      apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, strides, padding, 'NHWC', dilations),
      reference: ([x, w]) => convolution(x, w, windowsOf(shape)),
    };
  },
  4,
);

const pointwise = opCase('conv2d 1x1', (random) => {
  const input = [random.integer(1, 4), random.integer(1, 8), random.integer(1, 8), random.channels()];
  const stride = random.integer(1, 3);
  return {
    inputs: [random.normal(input), random.normal([1, 1, input[3], random.channels()])],
    options: { stride },
    apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, stride, 'valid'),
    reference: ([x, w]) =>
      convolution(x, w, { window: [1, 1], strides: [stride, stride], dilations: [1, 1], padding: 'valid' }),
  };
});

/** Large enough to need several blocks of scratch space for its columns. */
const largeConv2d = opCase(
  'conv2d, large',
  (random) => ({
    inputs: [random.normal([2, 25, 23, 48]), random.normal([3, 3, 48, random.integer(2, 5)])],
    apply: ([x, w]) => tf.conv2d(x as Image, w as Filter, 1, 'same'),
    reference: ([x, w]) => convolution(x, w, { window: [3, 3], strides: [1, 1], dilations: [1, 1], padding: 'same' }),
  }),
  0.25,
);

const fusedActivations = ['linear', 'relu', 'relu6', 'elu', 'leakyrelu', 'sigmoid'] as const;

/** The activation of a fused op, with its default slope. */
export function activateFused(x: Value, activation: (typeof fusedActivations)[number]): Value {
  if (activation === 'leakyrelu') return leakyRelu(x, 0.2);
  return activation === 'elu' ? elu(x) : apply(activation, x);
}

const fusedConv2d = opCase(
  'fused.conv2d',
  (random) => {
    const shape = drawConvolution(random);
    const { input, kernel, strides, dilations, padding: pad } = shape;
    const channels = random.channels();
    const activation = random.pick(fusedActivations);
    return {
      inputs: [random.normal(input), random.normal([...kernel, input[3], channels]), random.normal([channels])],
      options: { ...optionsOf(shape), activation },
      apply: ([x, filter, bias]) =>
        tf.fused.conv2d({ x: x as Image, filter: filter as Filter, strides, pad, dilations, bias, activation }),
      reference: ([x, filter, bias]) => activateFused(add(convolution(x, filter, windowsOf(shape)), bias), activation),
    };
  },
  4,
);

const conv1d = opCase(
  'conv1d',
  (random) => {
    const [width, channels] = [random.integer(1, 4), random.channels()];
    const stride = random.integer(1, 3);
    return {
      inputs: [
        random.normal([random.integer(1, 4), width + random.integer(0, 9), channels]),
        random.normal([width, channels, random.channels()]),
      ],
      options: { stride },
      apply: ([x, w]) => tf.conv1d(x as never, w as never, stride, 'same'),
      reference: ([x, w]) => convolution(x, w, { window: [width], strides: [stride], dilations: [1], padding: 'same' }),
    };
  },
  2,
);

const conv2dTranspose = opCase(
  'conv2dTranspose',
  (random) => {
    const [batch, height, width] = [1, 2, 3].map(() => random.integer(1, 5));
    const [channels, outputs] = [random.channels(), random.channels()];
    const strides: Pair = [random.integer(1, 3), random.integer(1, 3)];
    const kernel: Pair = [random.integer(1, 4), random.integer(1, 4)];
    const outputShape: [number, number, number, number] = [batch, height * strides[0], width * strides[1], outputs];
    return {
      inputs: [random.normal([batch, height, width, channels]), random.normal([...kernel, outputs, channels])],
      options: { strides },
      apply: ([x, w]) => tf.conv2dTranspose(x as Image, w as Filter, outputShape, strides, 'same'),
      reference: ([x, w]) =>
        transposedConvolution(x, w, outputShape.slice(1, 3), {
          window: kernel,
          strides,
          dilations: [1, 1],
          padding: 'same',
        }),
    };
  },
  2,
);

const conv3d = opCase('conv3d', (random) => {
  const kernel = [random.integer(1, 3), random.integer(1, 3), random.integer(1, 3)];
  const channels = random.integer(1, 3);
  const stride = random.integer(1, 2);
  return {
    inputs: [
      random.normal([random.integer(1, 2), ...kernel.map((size) => size + random.integer(0, 3)), channels]),
      random.normal([...kernel, channels, random.integer(1, 4)]),
    ],
    options: { stride },
    apply: ([x, w]) => tf.conv3d(x as never, w as never, stride, 'same'),
    reference: ([x, w]) =>
      convolution(x, w, {
        window: kernel,
        strides: kernel.map(() => stride),
        dilations: [1, 1, 1],
        padding: 'same',
      }),
  };
});

const depthwiseConv2d = opCase(
  'depthwiseConv2d',
  (random) => {
    const shape = { ...drawConvolution(random), padding: 'same' as const };
    const { input, kernel, strides, dilations, padding } = shape;
    return {
      inputs: [random.normal(input), random.normal([...kernel, input[3], random.integer(1, 3)])],
      options: optionsOf(shape),
      apply: ([x, w]) => tf.depthwiseConv2d(x as Image, w as Filter, strides, padding, 'NHWC', dilations),
      reference: ([x, w]) => depthwiseConvolution(x, w, windowsOf(shape)),
    };
  },
  2,
);

/** TensorFlow.js refuses to compute its gradient if it is dilated. */
const fusedDepthwiseConv2d = opCase(
  'fused.depthwiseConv2d',
  (random) => {
    const dilations: Pair = [1, 1];
    const shape = { ...drawConvolution(random), dilations, padding: 'same' as const };
    const { input, kernel, strides, padding: pad } = shape;
    const multiplier = random.integer(1, 3);
    const activation = random.pick(fusedActivations);
    return {
      inputs: [
        random.normal(input),
        random.normal([...kernel, input[3], multiplier]),
        random.normal([input[3] * multiplier]),
      ],
      options: { ...optionsOf(shape), activation },
      apply: ([x, filter, bias]) =>
        tf.fused.depthwiseConv2d({
          x: x as Image,
          filter: filter as Filter,
          strides,
          pad,
          dilations,
          bias,
          activation,
        }),
      reference: ([x, filter, bias]) =>
        activateFused(add(depthwiseConvolution(x, filter, windowsOf(shape)), bias), activation),
    };
  },
  2,
);

const separableConv2d = opCase('separableConv2d', (random) => {
  const {
    input,
    kernel,
    strides: [stride],
  } = drawConvolution(random);
  const multiplier = random.integer(1, 2);
  const ones: Pair = [1, 1];
  return {
    inputs: [
      random.normal(input),
      random.normal([...kernel, input[3], multiplier]),
      random.normal([1, 1, input[3] * multiplier, random.channels()]),
    ],
    options: { stride },
    apply: ([x, depthwise, point]) =>
      tf.separableConv2d(x as Image, depthwise as Filter, point as Filter, [stride, stride], 'same'),
    reference: ([x, depthwise, point]) =>
      convolution(
        depthwiseConvolution(x, depthwise, {
          window: kernel,
          strides: [stride, stride],
          dilations: ones,
          padding: 'same',
        }),
        point,
        { window: ones, strides: ones, dilations: ones, padding: 'valid' },
      ),
  };
});

type TfPool = (x: Image, size: Pair, strides: Pair, padding: 'same' | 'valid') => Tensor;

function poolCase(op: string, pool: TfPool, reference: typeof maxPool): OpCase {
  return opCase(
    op,
    (random) => {
      const window: Pair = [random.integer(1, 4), random.integer(1, 4)];
      const strides: Pair = [random.integer(1, 3), random.integer(1, 3)];
      const padding = random.pick<'same' | 'valid'>(['same', 'valid']);
      const [height, width] = window.map((size) => (padding === 'valid' ? size : 1) + random.integer(0, 7));
      return {
        inputs: [random.distinct([random.integer(1, 3), height, width, random.channels()])],
        options: { window, strides, padding },
        apply: ([x]) => pool(x as Image, window, strides, padding),
        reference: ([x]) => reference(x, { window, strides, dilations: [1, 1], padding }),
      };
    },
    2,
  );
}

type Triple = [number, number, number];

function pool3dCase(op: string, pool: typeof tf.maxPool3d, reference: typeof maxPool): OpCase {
  return opCase(
    op,
    (random) => {
      const triple = (largest: number): Triple => [1, 2, 3].map(() => random.integer(1, largest)) as Triple;
      const [window, strides] = [triple(3), triple(3)];
      const padding = random.pick<'same' | 'valid'>(['same', 'valid']);
      const sizes = window.map((size) => (padding === 'valid' ? size : 1) + random.integer(0, 3));
      return {
        inputs: [random.distinct([random.integer(1, 2), ...sizes, random.integer(1, 3)])],
        options: { window, strides, padding },
        apply: ([x]) => pool(x as never, window, strides, padding),
        reference: ([x]) => reference(x, { window, strides, dilations: [1, 1, 1], padding }),
      };
    },
    2,
  );
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
  poolCase('maxPool', (x, size, strides, padding) => tf.maxPool(x, size, strides, padding), maxPool),
  poolCase('avgPool', (x, size, strides, padding) => tf.avgPool(x, size, strides, padding), averagePool),
  pool3dCase('maxPool3d', tf.maxPool3d, maxPool),
  pool3dCase('avgPool3d', tf.avgPool3d, averagePool),
];

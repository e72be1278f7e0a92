import { layers, type LayerName, type LayerOptions } from '../../../../reference/layers.ts';
import { applyLayer, weightShapes, type LayerCall } from './layer-call.ts';
import { opCase, type Draw, type OpCase, type OpSample, type Values } from '../op-case.ts';

interface Drawn {
  readonly inputs: readonly Values[];
  readonly options?: LayerOptions;
}

/** A layer in training over random inputs and weights. The gradient covers both. */
function layerCase(name: LayerName, draw: (random: Draw) => Drawn, weight = 1, title: string = name): OpCase {
  const drawSample = (random: Draw): OpSample => {
    const { inputs, options = {} } = draw(random);
    const call: LayerCall = { name, options, values: 'ids' in options ? 0 : inputs.length };
    const shapes = inputs.length > 1 || 'ids' in options ? [] : weightShapes(call, inputs[0].shape);
    const isVariance = (at: number): boolean => options.training === false && at === shapes.length - 1;
    const weights = shapes.map((shape, at) =>
      isVariance(at) ? random.uniform(shape, 0.5, 2) : scaled(random.normal(shape), shape),
    );
    return {
      inputs: [...inputs, ...weights],
      options,
      layer: call,
      apply: (tensors) => applyLayer(call, tensors),
      reference: (values) => layers[name](values, options),
    };
  };
  return opCase(`layers.${title}`, drawSample, weight);
}

/** Kernels scaled such that sums of their products stay near 1. */
function scaled(values: Values, shape: number[]): Values {
  const terms = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  return { shape, data: values.data.map((value) => value / Math.sqrt(terms)) };
}

const image = (random: Draw): number[] => [
  random.integer(1, 3),
  random.integer(1, 7),
  random.integer(1, 7),
  random.channels(),
];
const sequence = (random: Draw): number[] => [random.integer(1, 3), random.integer(1, 5), random.channels()];
const vector = (random: Draw): number[] => [random.integer(1, 9), random.integer(1, 20)];
/** Of two to four axes, because TensorFlow.js refuses to normalise more. */
const anyRank = (random: Draw): number[] => [...random.shape(1, 3, 4), random.channels()];

/** The values of `activation` for layers with weights. */
const trainedActivations = [
  'linear',
  'relu',
  'elu',
  'tanh',
  'sigmoid',
  'softplus',
  'softsign',
  'softmax',
  'swish',
] as const;
const activations = [...trainedActivations, 'relu6', 'selu', 'hardSigmoid', 'mish', 'gelu'] as const;

/** A layer without weights over standard normal inputs of a shape. */
function plainCase(
  name: LayerName,
  shape: (random: Draw) => number[],
  options: (random: Draw) => LayerOptions = () => ({}),
) {
  return layerCase(name, (random) => ({ inputs: [random.normal(shape(random))], options: options(random) }));
}

interface ConvolutionRules {
  readonly isTransposed?: boolean;
  /** The same stride along all axes. */
  readonly isSquare?: boolean;
  readonly largest?: number;
}

/**
 * A convolution over `rank` axes. `valid` ones have room for a window. TensorFlow.js refuses strides and dilations at
 * the same time.
 */
function convolution(random: Draw, rank: number, rules: ConvolutionRules = {}) {
  const largest = rules.largest ?? 8;
  const kernelSize = Array.from({ length: rank }, () => random.integer(1, 3));
  const isDilated = rank < 3 && rules.isTransposed !== true && random.rarely(4);
  const dilation = isDilated ? random.integer(2, 3) : 1;
  const stride = isDilated ? 1 : random.integer(1, 3);
  const strides = kernelSize.map(() => (isDilated || rules.isSquare === true ? stride : random.integer(1, 3)));
  const isCausal = rank === 1 && random.rarely(3);
  const padding = isCausal ? 'causal' : random.pick(['same', 'valid']);
  const sizes = kernelSize.map(
    (size) => (padding === 'valid' ? (size - 1) * dilation + 1 : 1) + random.integer(0, largest - 3),
  );
  const channels = rank === 3 ? random.integer(1, 3) : random.channels();
  const options = {
    kernelSize,
    strides: rank === 1 ? strides[0] : strides,
    padding,
    ...(isDilated ? { dilationRate: rank === 1 ? dilation : kernelSize.map(() => dilation) } : {}),
    useBias: random.pick([true, false]),
    activation: random.rarely(2) ? random.pick(trainedActivations) : 'linear',
  };
  return { inputs: [random.normal([random.integer(1, 3), ...sizes, channels])], options };
}

function convolutionCase(name: LayerName, rank: number, extra: (random: Draw) => object, rules: ConvolutionRules = {}) {
  return layerCase(
    name,
    (random) => {
      const { inputs, options } = convolution(random, rank, rules);
      return { inputs, options: { ...options, ...extra(random) } };
    },
    rank === 3 ? 2 : 4,
  );
}

const filters = (random: Draw): object => ({ filters: random.channels() });
const multiplier = (random: Draw): object => ({ depthMultiplier: random.integer(1, 2) });

function poolCase(name: LayerName, rank: number): OpCase {
  return layerCase(
    name,
    (random) => {
      const poolSize = Array.from({ length: rank }, () => random.integer(1, 4 - Math.floor(rank / 3)));
      const strides = poolSize.map(() => random.integer(1, 3));
      const padding = random.pick(['same', 'valid']);
      const sizes = poolSize.map((size) => (padding === 'valid' ? size : 1) + random.integer(0, 7 - 2 * rank + 2));
      const channels = rank === 3 ? random.integer(1, 3) : random.channels();
      const input = random.distinct([random.integer(1, 3), ...sizes, channels]);
      return { inputs: [input], options: { poolSize, strides, padding } };
    },
    2,
  );
}

function globalPoolCase(name: LayerName, shape: (random: Draw) => number[]): OpCase {
  return layerCase(name, (random) => ({ inputs: [random.distinct(shape(random))] }));
}

/** Over the last axis or axis 1. */
function batchNormalization(title: string, training: boolean): OpCase {
  return layerCase(
    'batchNormalization',
    (random) => {
      const shape = anyRank(random);
      const axis = random.pick([-1, 1]);
      return { inputs: [random.normal(shape)], options: { axis, epsilon: 0.01, ...(training ? {} : { training }) } };
    },
    2,
    title,
  );
}

const layerNormalization = layerCase(
  'layerNormalization',
  (random) => {
    const shape = anyRank(random);
    const axis = shape.length > 2 && random.rarely(3) ? [shape.length - 2, shape.length - 1] : -1;
    return { inputs: [random.normal(shape)], options: { axis, epsilon: 0.01 } };
  },
  2,
);

function recurrentOptions(random: Draw, name: string): LayerOptions {
  return {
    units: random.integer(1, 5),
    returnSequences: random.pick([true, false]),
    useBias: random.pick([true, false]),
    ...(name === 'simpleRNN' ? {} : { recurrentActivation: random.pick(['sigmoid', 'hardSigmoid']) }),
  };
}

function recurrentCase(name: 'simpleRNN' | 'lstm' | 'gru'): OpCase {
  return layerCase(
    name,
    (random) => ({
      inputs: [random.normal(sequence(random))],
      options: { ...recurrentOptions(random, name), goBackwards: random.rarely(3) },
    }),
    2,
  );
}

const bidirectional = layerCase('bidirectional', (random) => {
  const layer = random.pick(['simpleRNN', 'lstm', 'gru'] as const);
  return { inputs: [random.normal(sequence(random))], options: { layer, ...recurrentOptions(random, layer) } };
});

const embedding = layerCase('embedding', (random) => {
  const [inputDim, outputDim] = [random.integer(1, 9), random.channels()];
  const ids = Array.from({ length: random.integer(1, 4) }, () => random.integers(3, inputDim));
  return { inputs: [random.normal([inputDim, outputDim])], options: { inputDim, outputDim, ids } };
});

/** A layer of two inputs of one shape. No values are equal, so that maxima have one gradient. */
function mergeCase(name: LayerName): OpCase {
  return layerCase(name, (random) => {
    const shape = image(random);
    const both = random.distinct([2, ...shape]).data;
    const half = both.length / 2;
    return { inputs: [both.subarray(0, half), both.subarray(half)].map((data) => ({ shape, data })) };
  });
}

const concatenate = layerCase('concatenate', (random) => {
  const shape = image(random);
  const axis = random.pick([-1, 1, 2, 3]);
  const other = shape.with(axis, random.integer(1, 5));
  return { inputs: [random.normal(shape), random.normal(other)], options: { axis } };
});

const pairs = (random: Draw): number[][] => [random.integers(2, 3), random.integers(2, 3)];

/** Values around the kinks of piecewise activations, and beyond, where they are flat. */
const activation = layerCase(
  'activation',
  (random) => {
    const name = random.pick(activations);
    const input = random.away(anyRank(random), [0, 2.5, -2.5, 6]);
    const factor = random.pick([1, 4]);
    return { inputs: [{ ...input, data: input.data.map((v) => v * factor) }], options: { activation: name } };
  },
  4,
);

function kinkedCase(name: LayerName, options: (random: Draw) => LayerOptions, kinks: number[]): OpCase {
  return layerCase(name, (random) => ({
    inputs: [random.away(anyRank(random), kinks)],
    options: options(random),
  }));
}

export const layerCases: readonly OpCase[] = [
  layerCase(
    'dense',
    (random) => ({
      inputs: [random.normal(random.rarely(3) ? sequence(random) : vector(random))],
      options: {
        units: random.integer(1, 12),
        activation: random.pick(trainedActivations),
        useBias: random.pick([true, false]),
      },
    }),
    2,
  ),
  convolutionCase('conv1d', 1, filters),
  convolutionCase('conv2d', 2, filters),
  convolutionCase('conv3d', 3, () => ({ filters: 2 }), { largest: 5 }),
  convolutionCase('depthwiseConv2d', 2, multiplier, { isSquare: true }),
  convolutionCase('separableConv2d', 2, (random) => ({ ...filters(random), ...multiplier(random) }), {
    isSquare: true,
  }),
  convolutionCase('conv2dTranspose', 2, filters, { isTransposed: true, largest: 6 }),
  convolutionCase('conv3dTranspose', 3, () => ({ filters: 2 }), { isTransposed: true, largest: 4 }),
  ...([1, 2, 3] as const).flatMap((rank) => [
    poolCase(`maxPooling${rank}d`, rank),
    poolCase(`averagePooling${rank}d`, rank),
  ]),
  globalPoolCase('globalMaxPooling1d', sequence),
  globalPoolCase('globalMaxPooling2d', image),
  globalPoolCase('globalAveragePooling1d', sequence),
  globalPoolCase('globalAveragePooling2d', image),
  batchNormalization('batchNormalization', true),
  batchNormalization('batchNormalization, predicting', false),
  layerNormalization,
  recurrentCase('simpleRNN'),
  recurrentCase('lstm'),
  recurrentCase('gru'),
  bidirectional,
  embedding,
  activation,
  layerCase('softmax', (random) => {
    const shape = anyRank(random);
    return {
      inputs: [random.normal(shape)],
      options: { axis: random.pick([-1, ...shape.keys()].filter((a) => a !== 0)) },
    };
  }),
  kinkedCase('reLU', (random) => (random.rarely(2) ? { maxValue: 1 } : {}), [0, 1]),
  kinkedCase('elu', (random) => ({ alpha: random.pick([0.5, 1, 2]) }), []),
  kinkedCase('leakyReLU', (random) => ({ alpha: random.pick([0, 0.1, 0.3]) }), [0]),
  kinkedCase('thresholdedReLU', (random) => ({ theta: random.pick([0, 0.5, 1]) }), [0, 0.5, 1]),
  kinkedCase('prelu', () => ({}), [0]),
  plainCase('upSampling2d', image, (random) => ({ size: [random.integer(1, 3), random.integer(1, 3)] })),
  layerCase('cropping2D', (random) => {
    const cropping = pairs(random);
    const [rows, columns] = cropping.map(([before, after]) => before + after + random.integer(1, 4));
    return { inputs: [random.normal([random.integer(1, 3), rows, columns, random.channels()])], options: { cropping } };
  }),
  plainCase('zeroPadding2d', image, (random) => ({ padding: pairs(random) })),
  mergeCase('add'),
  mergeCase('multiply'),
  mergeCase('average'),
  mergeCase('maximum'),
  mergeCase('minimum'),
  concatenate,
  plainCase('flatten', image),
  plainCase('permute', image, (random) => ({ dims: random.permutation(3).map((axis) => axis + 1) })),
  plainCase('repeatVector', vector, (random) => ({ n: random.integer(1, 4) })),
];

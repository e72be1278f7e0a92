import { concat, gather, matMul, max, mean, pad, rearrange, reshape, softmax, transpose, without } from './arrays.ts';
import * as op from './elementwise.ts';
import { batchNormalization, batchNormalizationInPrediction, layerNormalization } from './normalization.ts';
import { gru, lstm, simpleRnn, type Recurrent } from './recurrent.ts';
import type { Value } from './value.ts';
import * as windows from './windows.ts';

/** Options of a layer, with TensorFlow.js's names. */
export type LayerOptions = Readonly<Record<string, unknown>>;

/** A layer's value from its inputs and weights, in the order of `layer.weights`. */
type ReferenceLayer = (values: readonly Value[], options: LayerOptions) => Value;

/** Expands an option to one number per axis. */
function perAxis(option: unknown, rank: number, otherwise: readonly number[]): number[] {
  if (option === undefined) return [...otherwise];
  const numbers = [option].flat() as number[];
  return numbers.length === rank ? numbers : Array<number>(rank).fill(numbers[0]);
}

function convolutionWindows(options: LayerOptions, rank: number): windows.Windows {
  const ones = Array<number>(rank).fill(1);
  return {
    window: perAxis(options.kernelSize, rank, ones),
    strides: perAxis(options.strides, rank, ones),
    dilations: perAxis(options.dilationRate, rank, ones),
    padding: (options.padding ?? 'valid') as windows.Padding,
  };
}

function poolWindows(options: LayerOptions, rank: number): windows.Windows {
  const window = perAxis(options.poolSize, rank, Array<number>(rank).fill(2));
  return {
    window,
    strides: perAxis(options.strides ?? undefined, rank, window),
    dilations: Array<number>(rank).fill(1),
    padding: (options.padding ?? 'valid') as windows.Padding,
  };
}

function activate(x: Value, activation: unknown): Value {
  if (activation === undefined) return x;
  if (activation === 'softmax') return softmax(x, x.shape.length - 1);
  return activation === 'elu' ? op.elu(x) : op.apply(activation as op.FunctionName, x);
}

/** The activation of y + b. */
function finish(y: Value, bias: Value | undefined, { activation }: LayerOptions): Value {
  return activate(bias === undefined ? y : op.add(y, bias), activation);
}

const convolution =
  (rank: number): ReferenceLayer =>
  ([x, kernel, bias], options) =>
    finish(windows.convolution(x, kernel, convolutionWindows(options, rank)), bias, options);

/** Sizes s·n for `same`, s·n + max(k − s, 0) for `valid`. */
const transposedConvolution =
  (rank: number): ReferenceLayer =>
  ([x, kernel, bias], options) => {
    const shape = convolutionWindows(options, rank);
    const overhang = shape.window.map((size, axis) => Math.max(size - shape.strides[axis], 0));
    const sizes = x.shape
      .slice(1, -1)
      .map((size, axis) => size * shape.strides[axis] + (shape.padding === 'valid' ? overhang[axis] : 0));
    return finish(windows.transposedConvolution(x, kernel, sizes, shape), bias, options);
  };

const pool =
  (kind: typeof windows.maxPool, rank: number): ReferenceLayer =>
  ([x], options) =>
    kind(x, poolWindows(options, rank));

/** Over all axes except the first and the last, which are dropped. */
const globally =
  (reduce: typeof mean): ReferenceLayer =>
  ([x]) => {
    const axes = x.shape.map((_, axis) => axis).slice(1, -1);
    return reshape(reduce(x, axes), without(x.shape, axes));
  };

/** Weights that a layer has only with `scale` and `center`. */
function scaleAndCenter([gamma, beta]: readonly (Value | undefined)[], { scale = true, center = true }: LayerOptions) {
  if (scale === true) return [gamma ?? null, center === true ? (beta ?? null) : null] as const;
  return [null, center === true ? (gamma ?? null) : null] as const;
}

function normalizedAxes(x: Value, { axis = -1, epsilon = 1e-3 }: LayerOptions) {
  const axes = ([axis].flat() as number[]).map((a) => (a < 0 ? a + x.shape.length : a));
  return { axes, epsilon: epsilon as number };
}

const batchNorm: ReferenceLayer = ([x, ...weights], options) => {
  const [gamma, beta] = scaleAndCenter(weights, options);
  if (options.training !== false) return batchNormalization(x, gamma, beta, normalizedAxes(x, options));
  const moments = weights.slice(-2);
  return batchNormalizationInPrediction(x, [gamma, beta, ...moments], normalizedAxes(x, options));
};

const bidirectional: ReferenceLayer = ([x, ...weights], { layer, returnSequences, ...options }) => {
  const cell = layers[layer as LayerName];
  const half = weights.length / 2;
  const forward = cell([x, ...weights.slice(0, half)], { ...options, returnSequences });
  const backward = cell([x, ...weights.slice(half)], { ...options, returnSequences, goBackwards: true });
  const inOrder = returnSequences === true ? reversed(backward, 1) : backward;
  return concat([forward, inOrder], forward.shape.length - 1);
};

const reversed = (x: Value, axis: number): Value =>
  rearrange(x, x.shape, (index) => index.with(axis, x.shape[axis] - 1 - index[axis]));

type Paddings = [[number, number], [number, number]];

/** The layers with a reference, by their names in `tf.layers`. */
export const layers = {
  dense: ([x, kernel, bias], options) => {
    const units = kernel.shape[1];
    const y = matMul(reshape(x, [x.data.length / kernel.shape[0], kernel.shape[0]]), kernel);
    return finish(reshape(y, [...x.shape.slice(0, -1), units]), bias, options);
  },
  conv1d: convolution(1),
  conv2d: convolution(2),
  conv3d: convolution(3),
  conv2dTranspose: transposedConvolution(2),
  conv3dTranspose: transposedConvolution(3),
  depthwiseConv2d: ([x, kernel, bias], options) =>
    finish(windows.depthwiseConvolution(x, kernel, convolutionWindows(options, 2)), bias, options),
  separableConv2d: ([x, depthwise, pointwise, bias], options) => {
    const inner = windows.depthwiseConvolution(x, depthwise, convolutionWindows(options, 2));
    return finish(windows.convolution(inner, pointwise, convolutionWindows({ kernelSize: 1 }, 2)), bias, options);
  },
  maxPooling1d: pool(windows.maxPool, 1),
  maxPooling2d: pool(windows.maxPool, 2),
  maxPooling3d: pool(windows.maxPool, 3),
  averagePooling1d: pool(windows.averagePool, 1),
  averagePooling2d: pool(windows.averagePool, 2),
  averagePooling3d: pool(windows.averagePool, 3),
  globalMaxPooling1d: globally(max),
  globalMaxPooling2d: globally(max),
  globalAveragePooling1d: globally(mean),
  globalAveragePooling2d: globally(mean),
  batchNormalization: batchNorm,
  layerNormalization: ([x, ...weights], options) =>
    layerNormalization(x, ...scaleAndCenter(weights, options), normalizedAxes(x, options)),
  simpleRNN: ([x, ...weights], options) => simpleRnn(x, weights, options as unknown as Recurrent),
  lstm: ([x, ...weights], options) => lstm(x, weights, options as unknown as Recurrent),
  gru: ([x, ...weights], options) => gru(x, weights, options as unknown as Recurrent),
  bidirectional,
  embedding: ([table], { ids }) => {
    const rows = ids as number[][];
    return reshape(gather(table, rows.flat(), 0), [rows.length, rows[0].length, table.shape[1]]);
  },
  activation: ([x], { activation }) => activate(x, activation),
  softmax: ([x], { axis = -1 }) => softmax(x, ((axis as number) + x.shape.length) % x.shape.length),
  reLU: ([x], { maxValue }) => (maxValue === undefined ? activate(x, 'relu') : op.clip(x, 0, maxValue as number)),
  elu: ([x], { alpha = 1 }) => op.elu(x, alpha as number),
  leakyReLU: ([x], { alpha = 0.3 }) => op.leakyRelu(x, alpha as number),
  thresholdedReLU: ([x], { theta = 1 }) => op.thresholdedRelu(x, theta as number),
  prelu: ([x, slope]) => op.prelu(x, slope),
  upSampling2d: ([x], { size }) => {
    const [tall, wide] = perAxis(size, 2, [2, 2]);
    const [batch, height, width, channels] = x.shape;
    return rearrange(x, [batch, height * tall, width * wide, channels], ([b, row, column, c]) => [
      b,
      Math.floor(row / tall),
      Math.floor(column / wide),
      c,
    ]);
  },
  cropping2D: ([x], { cropping }) => {
    const [[top, bottom], [left, right]] = cropping as Paddings;
    const [batch, height, width, channels] = x.shape;
    return rearrange(x, [batch, height - top - bottom, width - left - right, channels], ([b, row, column, c]) => [
      b,
      row + top,
      column + left,
      c,
    ]);
  },
  zeroPadding2d: ([x], { padding }) => pad(x, [[0, 0], ...(padding as Paddings), [0, 0]]),
  add: ([a, b]) => op.add(a, b),
  multiply: ([a, b]) => op.multiply(a, b),
  average: ([a, b]) => op.affine(op.add(a, b), 0.5),
  maximum: ([a, b]) => op.maximum(a, b),
  minimum: ([a, b]) => op.minimum(a, b),
  concatenate: ([a, b], { axis = -1 }) => concat([a, b], ((axis as number) + a.shape.length) % a.shape.length),
  flatten: ([x]) => reshape(x, [x.shape[0], x.data.length / x.shape[0]]),
  permute: ([x], { dims }) => transpose(x, [0, ...(dims as number[])]),
  repeatVector: ([x], { n }) => rearrange(x, [x.shape[0], n as number, x.shape[1]], ([b, , i]) => [b, i]),
} as const satisfies Record<string, ReferenceLayer>;

export type LayerName = keyof typeof layers;

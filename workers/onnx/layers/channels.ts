import { perAxis } from '../../exchange/model-calls.ts';
import type { Attributes } from '../format/graph.ts';
import type { Convert, LayerContext } from './context.ts';

/** Computes with channels before the other axes, as ONNX has them, for either order of the layer's data. */
export function channelsFirst(context: LayerContext, compute: (x: string) => string): string {
  const { graph, x, rank, config } = context;
  if (config.dataFormat === 'channelsFirst') return compute(x);
  const others = Array.from({ length: rank - 2 }, (_, axis) => axis + 1);
  const first = graph.op('Transpose', [x], { perm: [0, rank - 1, ...others] });
  return graph.op('Transpose', [compute(first)], { perm: [0, ...others.map((axis) => axis + 1), 1] });
}

/** Windows over axes, with one number for each. */
interface Windows {
  window: readonly number[];
  strides: readonly number[];
  dilations?: readonly number[];
}

/**
 * The padding for outputs of ⌈n / stride⌉ values along each axis. Of an odd number of zeros, TensorFlow puts the larger
 * half behind, which is ONNX's SAME_UPPER. ONNX Runtime has that only for windows without dilation that are no smaller
 * than the stride, so sizes that are known give numbers.
 */
export function samePadding({ inputs, config }: LayerContext, { window, strides, dilations }: Windows): Attributes {
  const start = config.dataFormat === 'channelsFirst' ? 2 : 1;
  const totals = window.map((size, axis) => {
    const span = (size - 1) * (dilations?.[axis] ?? 1) + 1;
    const length = inputs[0].shape[start + axis];
    if (strides[axis] === 1) return span - 1;
    if (length === null) return null;
    return Math.max((Math.ceil(length / strides[axis]) - 1) * strides[axis] + span - length, 0);
  });
  if (totals.includes(null)) return { auto_pad: 'SAME_UPPER' };
  const before = totals.map((total) => Math.floor((total ?? 0) / 2));
  return { pads: [...before, ...totals.map((total, axis) => (total ?? 0) - before[axis])] };
}

/** Averages leave out the padding, as TensorFlow's do. */
const pool =
  (type: 'MaxPool' | 'AveragePool', rank: number): Convert =>
  (context) => {
    const { graph, config } = context;
    const window = perAxis(config.poolSize, rank, 2);
    const strides = config.strides === null || config.strides === undefined ? window : perAxis(config.strides, rank);
    const padding = config.padding === 'same' ? samePadding(context, { window, strides }) : {};
    const attributes = { kernel_shape: window, strides, ...padding };
    return channelsFirst(context, (x) => graph.op(type, [x], attributes));
  };

/** Over all axes but batch and channels. */
const globalPool =
  (type: 'ReduceMax' | 'ReduceMean'): Convert =>
  ({ graph, x, rank, config }) => {
    const start = config.dataFormat === 'channelsFirst' ? 2 : 1;
    const axes = Array.from({ length: rank - 2 }, (_, axis) => axis + start);
    return graph.op(type, [x, graph.integers(axes)], { keepdims: 0 });
  };

/** The mean over the steps that the mask counts; 0 where it counts none. */
const averageSteps: Convert = (context) => {
  const { graph, x, inputs } = context;
  const [{ mask }] = inputs;
  if (mask === undefined) return globalPool('ReduceMean')(context);
  const kept = graph.op('Unsqueeze', [mask, graph.integers([-1])]);
  const sumOf = (values: string): string => graph.op('ReduceSum', [values, graph.integers([1])], { keepdims: 0 });
  return graph.op('Div', [sumOf(graph.op('Mul', [x, kept])), graph.op('Max', [sumOf(kept), graph.scalar(1)])]);
};

const upSampling: Convert = (context) => {
  const { graph, config, layer } = context;
  const isLinear = (layer as unknown as { interpolation?: string }).interpolation === 'bilinear';
  const attributes = {
    mode: isLinear ? 'linear' : 'nearest',
    coordinate_transformation_mode: 'asymmetric',
    nearest_mode: 'floor',
  };
  const scales = graph.floats([1, 1, ...perAxis(config.size, 2)]);
  return channelsFirst(context, (x) => graph.op('Resize', [x, '', scales], attributes));
};

/** What is added or cut before and after the rows and columns, for all four axes. */
function borders({ config }: LayerContext, [rows, columns]: readonly [number, number][]): [number[], number[]] {
  const place = (own: number[]) => (config.dataFormat === 'channelsFirst' ? [0, 0, ...own] : [0, ...own, 0]);
  return [place([rows[0], columns[0]]), place([rows[1], columns[1]])];
}

const zeroPadding: Convert = (context) => {
  const [before, after] = borders(context, context.config.padding as unknown as [number, number][]);
  return context.graph.op('Pad', [context.x, context.graph.integers([...before, ...after])]);
};

const cropping: Convert = (context) => {
  const { graph, x } = context;
  const [before, after] = borders(context, context.config.cropping);
  // An end beyond the last value means the last value.
  const ends = after.map((size) => (size === 0 ? Number.MAX_SAFE_INTEGER : -size));
  return graph.op('Slice', [x, graph.integers(before), graph.integers(ends)]);
};

export const imageLayers: Readonly<Record<string, Convert>> = {
  MaxPooling1D: pool('MaxPool', 1),
  MaxPooling2D: pool('MaxPool', 2),
  MaxPooling3D: pool('MaxPool', 3),
  AveragePooling1D: pool('AveragePool', 1),
  AveragePooling2D: pool('AveragePool', 2),
  AveragePooling3D: pool('AveragePool', 3),
  GlobalMaxPooling1D: globalPool('ReduceMax'),
  GlobalMaxPooling2D: globalPool('ReduceMax'),
  GlobalAveragePooling1D: averageSteps,
  GlobalAveragePooling2D: globalPool('ReduceMean'),
  UpSampling2D: upSampling,
  ZeroPadding2D: zeroPadding,
  Cropping2D: cropping,
};

import { perAxis } from '../../exchange/model-calls.ts';
import { tuple } from '../code/python-code.ts';
import type { ConvertToPython, PythonContext } from './context.ts';

/** Computes with channels before the other axes, as PyTorch has them, for either order of the layer's data. */
export function channelsFirst({ code, x, config }: PythonContext, compute: (x: string) => string): string {
  if (config.dataFormat === 'channelsFirst') return compute(x);
  return `${code.library('channels_last')}(${compute(`${code.library('channels_first')}(${x})`)})`;
}

const pool =
  (kind: 'max' | 'avg', rank: number): ConvertToPython =>
  (context) => {
    const { code, config } = context;
    const window = perAxis(config.poolSize, rank, 2);
    const strides = config.strides === null || config.strides === undefined ? window : perAxis(config.strides, rank);
    const [size, stride] = [tuple(window), tuple(strides)];
    const apply = `F.${kind}_pool${rank}d`;
    return channelsFirst(context, (x) => {
      if (config.padding !== 'same') return `${apply}(${x}, ${size}, ${stride})`;
      if (kind === 'avg') return `${code.library('average_pool_same')}(${apply}, ${x}, ${size}, ${stride})`;
      const ones = tuple(window.map(() => 1));
      return `${apply}(${code.library('pad_same')}(${x}, ${size}, ${stride}, ${ones}, -torch.inf), ${size}, ${stride})`;
    });
  };

/** Over all axes but batch and channels. */
const globalPool =
  (method: 'amax' | 'mean'): ConvertToPython =>
  ({ x, rank, config }) => {
    const start = config.dataFormat === 'channelsFirst' ? 2 : 1;
    return `${x}.${method}(${tuple(Array.from({ length: rank - 2 }, (_, axis) => axis + start))})`;
  };

/** The mean over the steps that the mask counts; 0 where it counts none. */
const averageSteps: ConvertToPython = (context) => {
  const { code, x, inputs } = context;
  const [{ mask }] = inputs;
  if (mask === undefined) return globalPool('mean')(context);
  const kept = code.value(`${mask}.unsqueeze(-1).to(${x}.dtype)`);
  return `(${x} * ${kept}).sum(1) / ${kept}.sum(1).clamp(min=1)`;
};

const upSampling: ConvertToPython = (context) => {
  const { code, x, config, layer } = context;
  const [rows, columns] = perAxis(config.size, 2);
  const start = config.dataFormat === 'channelsFirst' ? 2 : 1;
  if ((layer as unknown as { interpolation?: string }).interpolation === 'bilinear') {
    // PyTorch's own interpolation takes the centers of pixels for their positions, TensorFlow.js their corners.
    const apply = code.library('upsample_linear');
    return `${apply}(${apply}(${x}, ${rows}, ${start}), ${columns}, ${start + 1})`;
  }
  return `${x}.repeat_interleave(${rows}, ${start}).repeat_interleave(${columns}, ${start + 1})`;
};

const zeroPadding: ConvertToPython = ({ x, config }) => {
  const [[top, bottom], [left, right]] = config.padding as unknown as [number, number][];
  const around = `${left}, ${right}, ${top}, ${bottom}`;
  return `F.pad(${x}, (${config.dataFormat === 'channelsFirst' ? around : `0, 0, ${around}`}))`;
};

const cropping: ConvertToPython = ({ x, config }) => {
  const slices = config.cropping.map(([before, after]) => `${before}:${after === 0 ? '' : -after}`);
  return `${x}[${config.dataFormat === 'channelsFirst' ? ':, :' : ':'}, ${slices.join(', ')}]`;
};

export const imageLayers: Readonly<Record<string, ConvertToPython>> = {
  MaxPooling1D: pool('max', 1),
  MaxPooling2D: pool('max', 2),
  MaxPooling3D: pool('max', 3),
  AveragePooling1D: pool('avg', 1),
  AveragePooling2D: pool('avg', 2),
  AveragePooling3D: pool('avg', 3),
  GlobalMaxPooling1D: globalPool('amax'),
  GlobalMaxPooling2D: globalPool('amax'),
  GlobalAveragePooling1D: averageSteps,
  GlobalAveragePooling2D: globalPool('mean'),
  UpSampling2D: upSampling,
  ZeroPadding2D: zeroPadding,
  Cropping2D: cropping,
};

import type { Weight } from '../../exchange/model-calls.ts';
import { tuple } from '../code/python-code.ts';
import type { ConvertToPython, PythonContext } from './context.ts';

function filled(shape: readonly number[], value: number): Weight {
  return { shape: [...shape], data: new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(value) };
}

/** γ and β as PyTorch's weight and bias. Those that the layer lacks are 1 and 0. */
function scaleAndOffset(context: PythonContext, shape: readonly number[]): { weight: Weight; bias: Weight } {
  return {
    weight: context.weightIfAny('gamma') ?? filled(shape, 1),
    bias: context.weightIfAny('beta') ?? filled(shape, 0),
  };
}

/** Keras keeps the share `momentum` of the moving moments at each step, PyTorch replaces it. */
const batchNormalization: ConvertToPython = (context) => {
  const { code, x, rank, name, config } = context;
  const mean = context.weight('moving_mean');
  const axis = [config.axis].flat()[0];
  const { momentum } = config as unknown as { momentum: number };
  const kind = `nn.BatchNorm${Math.max(rank - 2, 1)}d`;
  const rounded = Number((1 - momentum).toFixed(12));
  code.module(name, `${kind}(${mean.shape[0]}, eps=${config.epsilon}, momentum=${rounded})`, {
    ...scaleAndOffset(context, mean.shape),
    running_mean: mean,
    running_var: context.weight('moving_variance'),
  });
  const isFirst = rank === 2 || axis === 1 || axis === 1 - rank;
  return isFirst ? `self.${name}(${x})` : `self.${name}(${x}.movedim(${axis}, 1)).movedim(1, ${axis})`;
};

const layerNormalization: ConvertToPython = (context) => {
  const { code, x, rank, name, config, inputs } = context;
  const axes = [config.axis].flat().map((axis) => (axis < 0 ? axis + rank : axis));
  const shape = axes.map((axis) => inputs[0].shape[axis] ?? 1);
  code.module(name, `nn.LayerNorm(${tuple(shape)}, eps=${config.epsilon})`, scaleAndOffset(context, shape));
  const last = axes.map((_, i) => rank - axes.length + i);
  const isLast = axes.every((axis, i) => axis === last[i]);
  const [from, to] = [tuple(axes), tuple(last)];
  return isLast ? `self.${name}(${x})` : `self.${name}(${x}.movedim(${from}, ${to})).movedim(${to}, ${from})`;
};

export const normalizationLayers: Readonly<Record<string, ConvertToPython>> = {
  BatchNormalization: batchNormalization,
  LayerNormalization: layerNormalization,
};

import type { SampledDropout } from '../../tensorflow/layers/sampled-dropout.ts';
import { transposed } from '../../exchange/model-calls.ts';
import { tuple } from '../code/python-code.ts';
import { activate } from './activations.ts';
import type { ConvertToPython, PythonContext } from './context.ts';

const dense: ConvertToPython = (context) => {
  const { code, x, config, name, hasBias } = context;
  const weight = transposed(context.weight('kernel'), [1, 0]);
  const [outputs, inputs] = weight.shape;
  code.module(name, `nn.Linear(${inputs}, ${outputs}, bias=${hasBias})`, { weight, ...context.bias() });
  return activate(code, `self.${name}(${x})`, config.activation);
};

const embedding: ConvertToPython = (context) => {
  const weight = context.weight('embeddings');
  context.code.module(context.name, `nn.Embedding${tuple(weight.shape)}`, { weight });
  return `self.${context.name}(${context.x}.long())`;
};

const flatten: ConvertToPython = ({ x, rank, config }) =>
  config.dataFormat === 'channelsFirst' && rank > 2 ? `${x}.movedim(1, -1).flatten(1)` : `${x}.flatten(1)`;

/** A mask that belongs to the model. */
const sampledDropout: ConvertToPython = ({ code, x, name, layer }) =>
  `${x} * ${code.buffer(name, (layer as unknown as SampledDropout).mask)}`;

/** Layers that do nothing in predictions. */
const unchanged: ConvertToPython = ({ x }) => x;

export const shapeLayers: Readonly<Record<string, ConvertToPython>> = {
  Dense: dense,
  Embedding: embedding,
  Masking: ({ x, config }) => `${x} * (${x} != ${config.maskValue}).any(-1, keepdim=True)`,
  Flatten: flatten,
  Reshape: ({ x, config }) => `${x}.reshape(${x}.shape[0], ${config.targetShape.join(', ')})`,
  Permute: ({ x, config }) => `${x}.permute(0, ${config.dims.join(', ')})`,
  RepeatVector: ({ x, config }) => `${x}.unsqueeze(1).expand(-1, ${config.n}, -1)`,
  Rescaling: ({ x, config }) => `${x} * ${config.scale} + ${config.offset}`,
  SampledDropout: sampledDropout,
  Dropout: unchanged,
  SpatialDropout1D: unchanged,
  AlphaDropout: unchanged,
  GaussianDropout: unchanged,
  GaussianNoise: unchanged,
};

/** Inputs with as many axes as the one with the most: axes of size 1 follow the batch, as TensorFlow.js adds them. */
function alignedInputs({ inputs }: PythonContext): string[] {
  const rank = Math.max(...inputs.map(({ shape }) => shape.length));
  return inputs.map(({ name, shape }) => `${name}${'.unsqueeze(1)'.repeat(rank - shape.length)}`);
}

const joined =
  (operator: '+' | '*'): ConvertToPython =>
  (context) =>
    alignedInputs(context).join(` ${operator} `);

const pairwise =
  (apply: string): ConvertToPython =>
  (context) =>
    alignedInputs(context).reduce((result, input) => `${apply}(${result}, ${input})`);

const average: ConvertToPython = (context) => `(${alignedInputs(context).join(' + ')}) / ${context.inputs.length}`;

const concatenate: ConvertToPython = ({ inputs, config }) =>
  `torch.cat([${inputs.map(({ name }) => name).join(', ')}], ${[config.axis].flat()[0]})`;

/** Inputs `[B, n]`, or `[B, a, n]` and `[B, b, n]` with n on the axes `axes`. */
const dot: ConvertToPython = (context) => {
  const { inputs, config } = context;
  const ranks = inputs.map(({ shape }) => shape.length);
  const axes = [config.axes].flat().map((axis, i) => (axis < 0 ? axis + ranks[i] : axis));
  const [axisOfX, axisOfY = axisOfX] = axes;
  if (ranks[0] !== ranks[1]) throw context.refuse('its inputs have different numbers of axes');
  const [x, y] = inputs.map(({ name }, i) => {
    if (!config.normalize) return name;
    const axis = i === 0 ? axisOfX : axisOfY;
    return `(${name} / ${name}.square().sum(${axis}, keepdim=True).clamp(min=1e-7).sqrt())`;
  });
  if (ranks[0] === 2) return `(${x} * ${y}).sum(1, keepdim=True)`;
  return `${x}${axisOfX === 1 ? '.transpose(1, 2)' : ''} @ ${y}${axisOfY === 2 ? '.transpose(1, 2)' : ''}`;
};

export const mergeLayers: Readonly<Record<string, ConvertToPython>> = {
  Add: joined('+'),
  Multiply: joined('*'),
  Average: average,
  Maximum: pairwise('torch.maximum'),
  Minimum: pairwise('torch.minimum'),
  Concatenate: concatenate,
  Dot: dot,
};

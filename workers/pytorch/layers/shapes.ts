import type { SampledDropout } from '../../tensorflow/layers/sampled-dropout.ts';
import { transposed } from '../../exchange/model-calls.ts';
import { tuple } from '../code/python-code.ts';
import { activate } from './activations.ts';
import type { ConvertToPython } from './context.ts';

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

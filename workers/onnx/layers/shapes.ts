import type { SampledDropout } from '../../tensorflow/layers/sampled-dropout.ts';
import { activate } from './activations.ts';
import type { Convert, LayerContext } from './context.ts';

/** Products along the last axis. */
const dense: Convert = (context) => {
  const { graph, x, config } = context;
  const product = graph.op('MatMul', [x, context.stored('kernel')]);
  const y = context.weightIfAny('bias') === null ? product : graph.op('Add', [product, context.stored('bias')]);
  return activate(graph, y, config.activation);
};

const embedding: Convert = (context) =>
  context.graph.op('Gather', [context.stored('embeddings'), context.graph.op('Cast', [context.x], { to: 7 })]);

/** Zeros where all values of a step are the mask's. */
const masking: Convert = ({ graph, x, config }) =>
  graph.op('Mul', [x, graph.op('Unsqueeze', [keptSteps(graph, x, config.maskValue), graph.integers([-1])])]);

/** 1 for each step with a value other than `maskValue`, else 0: float32 `[B, T]`. */
export function keptSteps(graph: LayerContext['graph'], x: string, maskValue: number): string {
  const differs = graph.op('Not', [graph.op('Equal', [x, graph.scalar(maskValue)])]);
  return graph.op('ReduceMax', [graph.op('Cast', [differs], { to: 1 }), graph.integers([-1])], { keepdims: 0 });
}

const flatten: Convert = ({ graph, x, rank, config }) => {
  const others = Array.from({ length: rank - 2 }, (_, axis) => axis + 2);
  const last =
    config.dataFormat === 'channelsFirst' && rank > 2 ? graph.op('Transpose', [x], { perm: [0, ...others, 1] }) : x;
  return graph.op('Flatten', [last], { axis: 1 });
};

/** A size of 0 stands for the batch. */
const reshape: Convert = ({ graph, x, config }) => graph.op('Reshape', [x, graph.integers([0, ...config.targetShape])]);

const repeat: Convert = ({ graph, x, config }) =>
  graph.op('Expand', [graph.op('Unsqueeze', [x, graph.integers([1])]), graph.integers([1, config.n, 1])]);

const rescaling: Convert = ({ graph, x, config }) =>
  graph.op('Add', [graph.op('Mul', [x, graph.scalar(config.scale)]), graph.scalar(config.offset)]);

/** A mask that belongs to the model. */
const sampledDropout: Convert = ({ graph, x, layer }) => {
  const { shape, data } = (layer as unknown as SampledDropout).mask;
  return graph.op('Mul', [x, graph.weight('mask', shape, data)]);
};

/** Layers that do nothing in predictions. */
const unchanged: Convert = ({ x }) => x;

export const shapeLayers: Readonly<Record<string, Convert>> = {
  Dense: dense,
  Embedding: embedding,
  Masking: masking,
  Flatten: flatten,
  Reshape: reshape,
  Permute: ({ graph, x, config }) => graph.op('Transpose', [x], { perm: [0, ...config.dims] }),
  RepeatVector: repeat,
  Rescaling: rescaling,
  SampledDropout: sampledDropout,
  Dropout: unchanged,
  SpatialDropout1D: unchanged,
  AlphaDropout: unchanged,
  GaussianDropout: unchanged,
  GaussianNoise: unchanged,
};

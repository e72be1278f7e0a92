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

/** Inputs with as many axes as the one with the most: axes of size 1 follow the batch, as TensorFlow.js adds them. */
function alignedInputs({ graph, inputs }: LayerContext): string[] {
  const rank = Math.max(...inputs.map(({ shape }) => shape.length));
  return inputs.map(({ name, shape }) => {
    const missing = Array.from({ length: rank - shape.length }, (_, i) => i + 1);
    return missing.length === 0 ? name : graph.op('Unsqueeze', [name, graph.integers(missing)]);
  });
}

/** A node of any number of inputs. */
const variadic =
  (type: 'Sum' | 'Mean' | 'Max' | 'Min'): Convert =>
  (context) =>
    context.graph.op(type, alignedInputs(context));

const multiply: Convert = (context) =>
  alignedInputs(context).reduce((product, input) => context.graph.op('Mul', [product, input]));

const concatenate: Convert = ({ graph, inputs, config }) =>
  graph.op(
    'Concat',
    inputs.map(({ name }) => name),
    { axis: [config.axis].flat()[0] },
  );

/** Inputs `[B, n]`, or `[B, a, n]` and `[B, b, n]` with n on the axes `axes`. */
const dot: Convert = (context) => {
  const { graph, inputs, config } = context;
  const ranks = inputs.map(({ shape }) => shape.length);
  const axes = [config.axes].flat().map((axis, i) => (axis < 0 ? axis + ranks[i] : axis));
  const [axisOfX, axisOfY = axisOfX] = axes;
  if (ranks[0] !== ranks[1]) throw context.refuse('its inputs have different numbers of axes');
  const [x, y] = inputs.map(({ name }, i) => (config.normalize ? unitLength(context, name, axes[i] ?? axisOfX) : name));
  if (ranks[0] === 2) return graph.op('ReduceSum', [graph.op('Mul', [x, y]), graph.integers([1])], { keepdims: 1 });
  const swap = (value: string): string => graph.op('Transpose', [value], { perm: [0, 2, 1] });
  return graph.op('MatMul', [axisOfX === 1 ? swap(x) : x, axisOfY === 2 ? swap(y) : y]);
};

/** x / √max(Σ x², ε) along an axis. */
function unitLength({ graph }: LayerContext, x: string, axis: number): string {
  const squares = graph.op('ReduceSumSquare', [x, graph.integers([axis])], { keepdims: 1 });
  return graph.op('Div', [x, graph.op('Sqrt', [graph.op('Max', [squares, graph.scalar(1e-7)])])]);
}

export const mergeLayers: Readonly<Record<string, Convert>> = {
  Add: variadic('Sum'),
  Average: variadic('Mean'),
  Maximum: variadic('Max'),
  Minimum: variadic('Min'),
  Multiply: multiply,
  Concatenate: concatenate,
  Dot: dot,
};

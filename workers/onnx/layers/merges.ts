import type { Convert, LayerContext } from './context.ts';

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

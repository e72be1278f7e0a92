import type { ConvertToPython, PythonContext } from './context.ts';

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

import { exceedsFloat32 } from '../../core/ensemble/arithmetic.ts';
import { answersBy, type Combination } from '../../core/metrics/combination.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import type { TargetMeaning } from '../../core/preprocessing/schema.ts';
import type { Calibration } from '../../core/postprocessing/schema.ts';
import type { Shape } from '../exchange/model-calls.ts';
import { calibrateMembers, calibratePool } from './calibration.ts';
import { type GraphBuilder, valueInfo } from './format/graph.ts';
import { dataType, type ValueInfoProto } from './format/messages.ts';

/** How the members' outputs become the ensemble's. */
export interface Combining {
  task: TaskKind;
  combination: Combination;
  /** Brings values back to the targets' own unit. */
  target: TargetMeaning | undefined;
  /** What was fitted on held-out predictions of these members. */
  calibration: Calibration | null;
}

type Answering = Pick<Combining, 'combination' | 'calibration'>;

/** The names that outputs may have. */
export const outputNames = [
  'mean',
  'members',
  'entropy',
  'mutual_information',
  'aleatoric',
  'epistemic',
  'standard_deviation',
] as const;
type OutputName = (typeof outputNames)[number];

type Outputs = Partial<Record<OutputName, string>>;

const memberAxis = 1;

/**
 * Writes the combination of the members' outputs. Legend: N samples, M members, K classes, labels, targets or
 * quantiles.
 * @param members the outputs of each member: logits, or values (means and variances)
 * @param shape of a model's first output: `[N, ..., K]`, with sizes of positions before K where a sample has several
 * @param combining with what the names of the outputs begin with
 */
export function writeOutputs(
  graph: GraphBuilder,
  members: readonly (readonly string[])[],
  shape: Shape,
  { prefix, ...combining }: Combining & { prefix: string },
): ValueInfoProto[] {
  const stacks = members[0].map((_, output) =>
    stacked(
      graph,
      members.map((own) => own[output]),
    ),
  );
  const values = combine(graph, stacks, shape, combining);
  const width = shape.at(-1) ?? 1;
  const isWider = combining.task === 'binary' || combining.task === 'ordinal';
  const sizes = shape.slice(1, -1).map((size, axis) => size ?? `position_${axis + 1}`);
  return Object.entries(values).map(([name, value]) => {
    graph.rename(value, `${prefix}${name}`);
    const info = describe(name as OutputName, combining, [...sizes, isWider ? width + 1 : width], members.length);
    return { ...info, name: `${prefix}${name}` };
  });
}

function combine(graph: GraphBuilder, stacks: readonly string[], shape: Shape, combining: Combining): Outputs {
  const { task, target, calibration } = combining;
  const combination = answersBy(combining);
  const classes = (logits: string): Outputs =>
    combineClasses(graph, calibrateMembers(graph, logits, calibration, shape.length + 1), { combination, calibration });
  switch (task) {
    case 'classification':
      return classes(stacks[0]);
    case 'binary':
      return classes(withZero(graph, stacks[0]));
    case 'ordinal':
      return classes(ordinalLogits(graph, stacks[0]));
    case 'multi-label':
      return combineLabels(graph, stacks[0], { combination, calibration });
    case 'poisson-regression':
      return combineCounts(graph, stacks[0], { combination, calibration });
    case 'regression':
    case 'heteroscedastic-regression':
    case 'quantile-regression': {
      const values = inOwnUnit(graph, combineValues(graph, stacks[0], stacks.at(1)), shape.at(-1) ?? 1, target);
      return task === 'quantile-regression' ? values : withDeviation(graph, values, { combination, calibration });
    }
  }
}

/** Values `[N, ...]` of all members, `[N, M, ...]`. */
function stacked(graph: GraphBuilder, members: readonly string[]): string {
  const axis = graph.integers([memberAxis]);
  return graph.op(
    'Concat',
    members.map((value) => graph.op('Unsqueeze', [value, axis])),
    { axis: memberAxis },
  );
}

/** Logits 0 and z of the two classes of a binary task. */
function withZero(graph: GraphBuilder, logits: string): string {
  return graph.op('Concat', [graph.op('Mul', [logits, graph.scalar(0)]), logits], { axis: -1 });
}

/** log P(y = k) = Σ_{j<k} log σ(z_j) + log(1 − σ(z_k)). */
function ordinalLogits(graph: GraphBuilder, logits: string): string {
  const onward = graph.op('Neg', [graph.op('Softplus', [graph.op('Neg', [logits])])]);
  const reached = graph.op('CumSum', [onward, graph.integers([-1], [])], { exclusive: 1 });
  const stopped = graph.op('Sub', [reached, graph.op('Softplus', [logits])]);
  const all = graph.op('ReduceSum', [onward, graph.integers([-1])], { keepdims: 1 });
  return graph.op('Concat', [stopped, all], { axis: -1 });
}

function combineClasses(graph: GraphBuilder, logits: string, { combination, calibration }: Answering): Outputs {
  const logs = graph.op('LogSoftmax', [logits], { axis: -1 });
  const members = graph.op('Exp', [logs]);
  const average = meanOverMembers(graph, members);
  const ofAverage = entropyOf(graph, average);
  const isProduct = combination === 'product';
  const logsOfAnswer = (): string =>
    isProduct ? graph.op('LogSoftmax', [meanOverMembers(graph, logs)], { axis: -1 }) : logMean(graph, logs);
  const isPooled = calibration !== null && calibration.method !== 'temperature';
  const plain = (): string => (isProduct ? graph.op('Exp', [logsOfAnswer()]) : average);
  const pooled = isPooled ? calibratePool(graph, logsOfAnswer(), calibration) : null;
  const mean = pooled ?? plain();
  return {
    mean,
    members,
    entropy: mean === average ? ofAverage : entropyOf(graph, mean),
    mutual_information: informationOf(graph, ofAverage, entropyOf(graph, members)),
  };
}

/** log(1/M Σ exp(l_m)). */
function logMean(graph: GraphBuilder, logs: string): string {
  const sum = graph.op('ReduceLogSumExp', [logs, graph.integers([memberAxis])], { keepdims: 0 });
  const count = graph.op('Cast', [graph.op('Shape', [logs], { start: memberAxis, end: memberAxis + 1 })], { to: 1 });
  return graph.op('Sub', [sum, graph.op('Log', [count])]);
}

/**
 * Multiplies both deviations by the scale that was fitted for each target, and adds that of the answer: of a mixture
 * √(aleatoric² + epistemic²). A product is one distribution, so the members' deviation is no part of its own.
 */
function withDeviation(graph: GraphBuilder, outputs: Outputs, { combination, calibration }: Answering): Outputs {
  const scales = calibration?.method === 'sigma' ? graph.floats(calibration.scales) : null;
  const scaled = Object.entries(outputs).map(([name, value]) => {
    const isDeviation = name === 'aleatoric' || name === 'epistemic';
    return [name, isDeviation && scales !== null ? graph.op('Mul', [value, scales]) : value];
  });
  const found = Object.fromEntries(scaled) as Outputs;
  const parts = combination === 'product' ? [found.aleatoric] : [found.aleatoric, found.epistemic];
  const squares = parts.flatMap((value) => (value === undefined ? [] : [graph.op('Mul', [value, value])]));
  const total = graph.op('Sqrt', [squares.length === 1 ? squares[0] : graph.op('Add', squares)]);
  return { ...found, standard_deviation: total };
}

/** Any of K labels, each with its own entropy. */
function combineLabels(graph: GraphBuilder, logits: string, { combination, calibration }: Answering): Outputs {
  const members = graph.op('Sigmoid', [logits]);
  const average = meanOverMembers(graph, members);
  const isProduct = combination === 'product';
  const logitsOfAnswer = (): string => (isProduct ? meanOverMembers(graph, logits) : logitsOfMean(graph, logits));
  const plain = (): string => (isProduct ? graph.op('Sigmoid', [logitsOfAnswer()]) : average);
  const mean = calibration?.method === 'labels' ? calibrateLabels(graph, logitsOfAnswer(), calibration) : plain();
  const binary = (p: string): string => {
    const rest = graph.op('Sub', [graph.scalar(1), p]);
    return graph.op('Neg', [graph.op('Add', [plogp(graph, p), plogp(graph, rest)])]);
  };
  const ofAverage = binary(average);
  const entropy = mean === average ? ofAverage : binary(mean);
  return { mean, members, entropy, mutual_information: informationOf(graph, ofAverage, binary(members)) };
}

/** log p − log(1 − p) of the mean p of the members' probabilities. */
function logitsOfMean(graph: GraphBuilder, logits: string): string {
  const logSigmoid = (value: string): string => graph.op('Neg', [graph.op('Softplus', [graph.op('Neg', [value])])]);
  const [present, absent] = [logits, graph.op('Neg', [logits])].map((value) => logMean(graph, logSigmoid(value)));
  return graph.op('Sub', [present, absent]);
}

/** σ(scale · z + bias) of the ensemble's logits z. */
function calibrateLabels(
  graph: GraphBuilder,
  logits: string,
  { scale, bias }: Extract<Calibration, { method: 'labels' }>,
): string {
  const scaled = graph.op('Mul', [logits, graph.floats(scale)]);
  return graph.op('Sigmoid', [graph.op('Add', [scaled, graph.floats(bias)])]);
}

type ValueOutputs = { mean: string; members: string; epistemic: string; aleatoric?: string };

function combineValues(graph: GraphBuilder, members: string, variances?: string): ValueOutputs {
  const mean = meanOverMembers(graph, members);
  const aleatoric = variances === undefined ? undefined : graph.op('Sqrt', [meanOverMembers(graph, variances)]);
  return { mean, members, ...(aleatoric && { aleatoric }), epistemic: deviation(graph, members, mean) };
}

/** The variance of a count is its rate. */
function combineCounts(graph: GraphBuilder, logRates: string, answering: Answering): Outputs {
  const values = combineValues(graph, graph.op('Exp', [logRates]));
  const isProduct = answering.combination === 'product';
  const mean = isProduct ? graph.op('Exp', [meanOverMembers(graph, logRates)]) : values.mean;
  return withDeviation(graph, { ...values, mean, aleatoric: graph.op('Sqrt', [mean]) }, answering);
}

function meanOverMembers(graph: GraphBuilder, values: string): string {
  return graph.op('ReduceMean', [values, graph.integers([memberAxis])], { keepdims: 0 });
}

/** √(1/M Σ (μ_m − μ)²). */
function deviation(graph: GraphBuilder, members: string, mean: string): string {
  const centre = graph.op('Unsqueeze', [mean, graph.integers([memberAxis])]);
  const difference = graph.op('Sub', [members, centre]);
  return graph.op('Sqrt', [meanOverMembers(graph, graph.op('Mul', [difference, difference]))]);
}

/** −Σ p log p over the last axis, in nats, with 0 log 0 = 0. */
function entropyOf(graph: GraphBuilder, probabilities: string): string {
  const sum = graph.op('ReduceSum', [plogp(graph, probabilities), graph.integers([-1])], { keepdims: 0 });
  return graph.op('Neg', [sum]);
}

function plogp(graph: GraphBuilder, p: string): string {
  // The smallest normal float32: below it, p log p is 0 in float32 anyway.
  const log = graph.op('Log', [graph.op('Max', [p, graph.scalar(1.1754944e-38)])]);
  return graph.op('Mul', [p, log]);
}

/** max(0, total − 1/M Σ_m entropy_m). */
function informationOf(graph: GraphBuilder, total: string, entropies: string): string {
  return graph.op('Relu', [graph.op('Sub', [total, meanOverMembers(graph, entropies)])]);
}

/**
 * mean + std · value for means and quantiles, std · value for deviations, which are computed before the shift: float32
 * has no digits left for them after it. Where it has too few even for the values, these are float64.
 */
function inOwnUnit(graph: GraphBuilder, found: ValueOutputs, width: number, target?: TargetMeaning): ValueOutputs {
  if (target?.kind !== 'values') return found;
  const perColumn = (values: readonly number[]): number[] =>
    Array.from({ length: width }, (_, column) => values[column % values.length]);
  const [mean, std] = [perColumn(target.mean), perColumn(target.std)];
  const isDouble = exceedsFloat32(target);
  const constant = (values: number[]) => (isDouble ? graph.doubles(values) : graph.floats(values));
  const shifted = (values: string): string => {
    const own = isDouble ? graph.op('Cast', [values], { to: dataType.double }) : values;
    return graph.op('Add', [graph.op('Mul', [own, constant(std)]), constant(mean)]);
  };
  const scaled = (deviations: string): string => graph.op('Mul', [deviations, graph.floats(std)]);
  const { aleatoric } = found;
  return {
    mean: shifted(found.mean),
    members: shifted(found.members),
    ...(aleatoric !== undefined && { aleatoric: scaled(aleatoric) }),
    epistemic: scaled(found.epistemic),
  };
}

const classTasks: readonly TaskKind[] = ['classification', 'binary', 'ordinal'];

function describe(
  name: OutputName,
  { task, target }: Combining,
  sizes: readonly (number | string)[],
  members: number,
): ValueInfoProto {
  const isClasses = classTasks.includes(task);
  const of = isClasses || task === 'multi-label' ? 'probabilities' : 'predicted values';
  const texts: Record<OutputName, string> = {
    mean: `The ensemble's ${of}`,
    members: `Each member's ${of}`,
    entropy: "Total uncertainty: the entropy of the ensemble's probabilities, in nats",
    mutual_information:
      'How much the members differ: the entropy of the mean of their probabilities minus the mean of their ' +
      'entropies, in nats',
    aleatoric: "Aleatoric uncertainty: the standard deviation of the data, in the targets' unit",
    epistemic: "Epistemic uncertainty: the standard deviation of the members, in the targets' unit",
    standard_deviation:
      'Total uncertainty: the standard deviation of both together, calibrated where a scale was fitted',
  };
  const isPerSample = isClasses && (name === 'entropy' || name === 'mutual_information');
  const own = isPerSample ? sizes.slice(0, -1) : sizes;
  const shape = name === 'members' ? ['N', members, ...own] : ['N', ...own];
  const isDouble = exceedsFloat32(target) && (name === 'mean' || name === 'members');
  return valueInfo(name, isDouble ? 'double' : 'float', shape, texts[name]);
}

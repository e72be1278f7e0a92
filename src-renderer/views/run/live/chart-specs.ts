import type { ChartSeries } from '../../../charts/types.ts';

/** One line of a chart, before there is any point of it. */
export interface LineSpec {
  metric: string;
  label: string;
  role: ChartSeries['role'];
  rank?: number;
}

/** A chart of the Live tab. */
export interface ChartSpec {
  /** Stable: the order of charts is remembered by it. */
  id: string;
  title: string;
  yLabel: string;
  lines: LineSpec[];
  /** Which way the metric improves; null where neither end is better. */
  best: 'min' | 'max' | null;
  /** For values that may be negative. */
  isLinear: boolean;
}

/** What decides which charts a run has. */
export interface ChartedRun {
  task: string;
  ranks: readonly number[];
  /** Members of the ensemble among the ranks: fewer, where all ranks train one model. */
  memberCount: number;
  /** Names of the metrics there are points of. */
  metrics: ReadonlySet<string>;
  /** Charts of a run under way are there before their first points, so that nothing jumps when those arrive. */
  isLive: boolean;
}

/** Metrics drawn together; `{rank}` stands for each rank. */
interface Family extends Omit<ChartSpec, 'lines' | 'isLinear'> {
  /** What is optional has no line, nor a chart, before there are points of it: only some strategies have them. */
  lines: { metric: string; label: string; isOptional?: boolean }[];
  isLinear?: boolean;
}

const ensembleAndMembers = (metric: string) => [
  { metric: `val/member_{rank}_${metric}`, label: 'rank {rank}' },
  { metric: `val/ens_${metric}`, label: 'ensemble' },
  { metric: `val/product_${metric}`, label: 'product of experts', isOptional: true },
];

const nll: Family = { id: 'nll', title: 'NLL', yLabel: 'nats', lines: ensembleAndMembers('nll'), best: 'min' };
const mse: Family = { id: 'mse', title: 'MSE', yLabel: 'MSE', lines: ensembleAndMembers('mse'), best: 'min' };
const nllGain: Family = {
  id: 'ambiguity',
  title: 'What diversity buys',
  yLabel: 'nats',
  lines: [{ metric: 'val/ambiguity', label: 'mean member NLL - ensemble NLL' }],
  best: null,
  isLinear: true,
};
const mseGain: Family = {
  id: 'ensemble-gain',
  title: 'What diversity buys',
  yLabel: 'MSE',
  lines: [{ metric: 'val/ensemble_gain', label: 'mean member MSE - ensemble MSE' }],
  best: null,
  isLinear: true,
};
const spread: Family = {
  id: 'ens-std',
  title: 'Ensemble std',
  yLabel: 'std',
  lines: [{ metric: 'val/ens_std', label: 'between members' }],
  best: null,
};

const classifierFamilies: Family[] = [
  nll,
  nllGain,
  { id: 'accuracy', title: 'Accuracy', yLabel: 'share', lines: ensembleAndMembers('acc'), best: 'max' },
  { id: 'ece', title: 'ECE', yLabel: 'ECE', lines: ensembleAndMembers('ece'), best: 'min' },
  { id: 'brier', title: 'Brier', yLabel: 'Brier', lines: ensembleAndMembers('brier'), best: 'min' },
  {
    id: 'disagreement',
    title: 'Disagreement',
    yLabel: 'share',
    lines: [{ metric: 'val/disagreement', label: 'members differ' }],
    best: null,
  },
  {
    id: 'uncertainty',
    title: 'Uncertainty',
    yLabel: 'nats',
    lines: [
      { metric: 'val/predictive_entropy', label: 'predictive entropy' },
      { metric: 'val/mutual_information', label: 'mutual information' },
    ],
    best: null,
  },
];

const familiesByTask: Record<string, Family[]> = {
  classification: classifierFamilies,
  binary: classifierFamilies,
  regression: [mse, mseGain, spread],
  'heteroscedastic-regression': [
    { ...nll, isLinear: true },
    nllGain,
    mse,
    { ...mseGain, title: 'Ensemble gain' },
    spread,
    {
      id: 'decomposition',
      title: 'Aleatoric and epistemic',
      yLabel: 'variance',
      lines: [
        { metric: 'val/aleatoric', label: 'aleatoric' },
        { metric: 'val/epistemic', label: 'epistemic' },
      ],
      best: null,
    },
  ],
};

const trainingFamilies: Family[] = [
  {
    id: 'loss',
    title: 'Training loss',
    yLabel: 'loss',
    lines: [{ metric: 'train/member_{rank}_loss', label: 'rank {rank}' }],
    best: null,
  },
  {
    id: 'learning-rate',
    title: 'Learning rate',
    yLabel: 'rate',
    lines: [{ metric: 'train/member_{rank}_lr', label: 'rank {rank}' }],
    best: null,
  },
  {
    id: 'throughput',
    title: 'Throughput',
    yLabel: 'samples/s',
    lines: [{ metric: 'train/member_{rank}_samples_per_second', label: 'rank {rank}' }],
    best: null,
  },
  {
    id: 'traffic',
    title: 'Traffic',
    yLabel: 'bytes/step',
    lines: [{ metric: 'train/member_{rank}_bytes_per_step', label: 'rank {rank}', isOptional: true }],
    best: null,
  },
  {
    id: 'weight-distance',
    title: 'Distance between ranks',
    yLabel: 'of the norm',
    lines: [{ metric: 'train/member_{rank}_weight_distance', label: 'rank {rank}', isOptional: true }],
    best: null,
  },
  {
    id: 'base-learning-rate',
    title: 'Adapted learning rate',
    yLabel: 'rate',
    lines: [{ metric: 'train/base_learning_rate', label: 'base of all ranks', isOptional: true }],
    best: null,
  },
  {
    id: 'velocity-learning-rate',
    title: 'Velocity of the learning rate',
    yLabel: 'rate',
    lines: [{ metric: 'train/velocity_learning_rate', label: 'velocity', isOptional: true }],
    best: null,
    isLinear: true,
  },
];

/** Metrics that charts of other kinds already tell. */
const toldElsewhere = new Set(['train/loss', 'val/avg_member_nll', 'val/avg_member_mse']);

/** All charts of a run, the big one first: those of its task, those of training, then those of metrics of its own. */
export function chartSpecs(run: ChartedRun): ChartSpec[] {
  const known = [...(familiesByTask[run.task] ?? []), ...trainingFamilies].map((family) => specOf(family, run));
  const isDrawn = ({ lines }: ChartSpec) =>
    lines.length > 0 && (run.isLive || lines.some(({ metric }) => run.metrics.has(metric)));
  const claimed = new Set(known.flatMap(({ lines }) => lines.map(({ metric }) => metric)));
  const others = [...run.metrics].filter((metric) => !claimed.has(metric) && !toldElsewhere.has(metric));
  const grouped = Map.groupBy(others, (metric) => metric.replace(/\/(ens|member_\d+)_/, '/'));
  return [...known.filter(isDrawn), ...[...grouped].map(([name, metrics]) => specOfOthers(name, metrics))];
}

/** The charts in the order a user gave them; those the order does not know come after, as they were. */
export function inOrder(specs: readonly ChartSpec[], order: readonly string[]): ChartSpec[] {
  const placeOf = ({ id }: ChartSpec) => (order.includes(id) ? order.indexOf(id) : order.length);
  return specs.toSorted((left, right) => placeOf(left) - placeOf(right));
}

/** The ids with one of them moved to the place of another. */
export function moved(ids: readonly string[], id: string, target: string): string[] {
  const to = ids.indexOf(target);
  return ids.filter((other) => other !== id).toSpliced(to, 0, id);
}

function specOf(family: Family, { ranks, memberCount, metrics }: ChartedRun): ChartSpec {
  const members = ranks.slice(0, memberCount);
  return {
    ...family,
    isLinear: family.isLinear ?? false,
    lines: family.lines.flatMap(({ metric, label, isOptional }) =>
      linesOf(metric, label, metric.startsWith('val/') ? members : ranks).filter(
        (line) => !isOptional || metrics.has(line.metric),
      ),
    ),
  };
}

/** One line, or one for each rank. */
function linesOf(metric: string, label: string, ranks: readonly number[]): LineSpec[] {
  if (!metric.includes('{rank}')) return [{ metric, label, role: roleOf(metric) }];
  return ranks.map((rank) => {
    const named = (text: string) => text.replace('{rank}', String(rank));
    return { metric: named(metric), label: named(label), role: 'rank', rank };
  });
}

/** A metric that only the project knows, with its ensemble's and members' values as far as there are. */
function specOfOthers(name: string, metrics: readonly string[]): ChartSpec {
  const lines = metrics.map((metric): LineSpec => {
    const rank = /\/member_(\d+)_/.exec(metric)?.[1];
    return rank === undefined
      ? { metric, label: metric, role: roleOf(metric) }
      : { metric, label: `rank ${rank}`, role: 'rank', rank: Number(rank) };
  });
  return { id: name, title: name, yLabel: '', lines, best: null, isLinear: true };
}

function roleOf(metric: string): ChartSeries['role'] {
  return /^(val|test)\/(ens_|ensemble_gain|ambiguity|disagreement)/.test(metric) ? 'ensemble' : 'other';
}

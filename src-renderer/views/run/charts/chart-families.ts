import { metricsOfTask } from '../../../../core/metrics/registry/index.ts';
import type { ChartSeries } from '../../../charts/types.ts';

/** The label of a rank's line. */
export const rankLabel = 'rank {rank}';

/** Metrics drawn together; `{rank}` stands for each rank. */
export interface Family {
  /** Stable: preferences remember the order of charts by it. */
  id: string;
  section: SectionId;
  title: string;
  yLabel: string;
  lines: FamilyLine[];
  /** Whether values may be negative, so that the axis must be linear. */
  isLinear?: boolean;
  /** Compares members: left out where there is only one. */
  isOfDiversity?: boolean;
}

interface FamilyLine {
  metric: string;
  label: string;
  role?: ChartSeries['role'];
  /** Shown only once it has points, because only some strategies have it. */
  isOptional?: boolean;
  isOfDiversity?: boolean;
}

const ensembleAndMembers = (metric: string): FamilyLine[] => [
  { metric: `val/member_{rank}_${metric}`, label: rankLabel },
  { metric: `val/ens_${metric}`, label: 'ensemble', role: 'ensemble' },
  { metric: `val/product_${metric}`, label: 'product of experts', role: 'variant', isOptional: true },
];

const nll: Family = { id: 'nll', section: 'quality', title: 'NLL', yLabel: 'nats', lines: ensembleAndMembers('nll') };
const mse: Family = { id: 'mse', section: 'quality', title: 'MSE', yLabel: 'MSE', lines: ensembleAndMembers('mse') };
const nllGain: Family = {
  id: 'ambiguity',
  section: 'quality',
  title: 'Diversity gain',
  yLabel: 'nats',
  lines: [{ metric: 'val/ambiguity', label: 'mean member NLL - ensemble NLL', role: 'ensemble' }],
  isLinear: true,
  isOfDiversity: true,
};
const mseGain: Family = {
  id: 'ensemble-gain',
  section: 'quality',
  title: 'Diversity gain',
  yLabel: 'MSE',
  lines: [{ metric: 'val/ensemble_gain', label: 'mean member MSE - ensemble MSE', role: 'ensemble' }],
  isLinear: true,
  isOfDiversity: true,
};
const spread: Family = {
  id: 'ens-std',
  section: 'uncertainty',
  title: 'Ensemble std',
  yLabel: 'std',
  lines: [{ metric: 'val/ens_std', label: 'between members', role: 'ensemble' }],
  isOfDiversity: true,
};

const classifierFamilies: Family[] = [
  nll,
  nllGain,
  { id: 'accuracy', section: 'quality', title: 'Accuracy', yLabel: 'share', lines: ensembleAndMembers('acc') },
  { id: 'ece', section: 'uncertainty', title: 'ECE', yLabel: 'ECE', lines: ensembleAndMembers('ece') },
  { id: 'brier', section: 'quality', title: 'Brier', yLabel: 'Brier', lines: ensembleAndMembers('brier') },
  {
    id: 'disagreement',
    section: 'uncertainty',
    title: 'Disagreement',
    yLabel: 'share',
    lines: [
      { metric: 'val/disagreement', label: 'of two members', role: 'ensemble' },
      { metric: 'val/not_unanimous', label: 'not unanimous', role: 'variant', isOptional: true },
    ],
    isOfDiversity: true,
  },
  {
    id: 'uncertainty',
    section: 'uncertainty',
    title: 'Uncertainty',
    yLabel: 'nats',
    lines: [
      { metric: 'val/predictive_entropy', label: 'predictive entropy' },
      { metric: 'val/mutual_information', label: 'mutual information', isOfDiversity: true },
    ],
  },
];

/** The charts of a task: the big one first, those of metrics on request last. */
export function familiesOfTask(task: string): Family[] {
  const onRequest = metricsOfTask(task).filter(({ isStandard, of }) => !isStandard && of === 'prediction');
  return [
    ...(standardFamilies[task] ?? []),
    ...onRequest.map(({ name, title }): Family => {
      const lines = ensembleAndMembers(name).map((line) => ({ ...line, isOptional: true }));
      return { id: name, section: 'quality', title, yLabel: title, lines, isLinear: true };
    }),
  ];
}

const standardFamilies: Record<string, Family[]> = {
  classification: classifierFamilies,
  binary: classifierFamilies,
  ordinal: [
    ...classifierFamilies,
    { id: 'mae', section: 'quality', title: 'MAE of the class', yLabel: 'classes', lines: ensembleAndMembers('mae') },
    {
      id: 'kappa',
      section: 'quality',
      title: 'Quadratic kappa',
      yLabel: 'kappa',
      lines: ensembleAndMembers('kappa'),
      isLinear: true,
    },
  ],
  'multi-label': [
    nll,
    nllGain,
    {
      id: 'accuracy',
      section: 'quality',
      title: 'Accuracy of labels',
      yLabel: 'share',
      lines: ensembleAndMembers('acc'),
    },
    { id: 'f1', section: 'quality', title: 'F1', yLabel: 'F1', lines: ensembleAndMembers('f1') },
  ],
  'poisson-regression': [
    { ...nll, isLinear: true },
    nllGain,
    mse,
    { ...mseGain, title: 'Diversity gain in MSE' },
    spread,
  ],
  'quantile-regression': [
    {
      id: 'pinball',
      section: 'quality',
      title: 'Pinball loss',
      yLabel: 'pinball',
      lines: ensembleAndMembers('pinball'),
    },
    { ...mseGain, yLabel: 'pinball' },
  ],
  regression: [mse, mseGain, spread],
  'heteroscedastic-regression': [
    { ...nll, isLinear: true },
    nllGain,
    mse,
    { ...mseGain, title: 'Diversity gain in MSE' },
    spread,
    {
      id: 'decomposition',
      section: 'uncertainty',
      title: 'Aleatoric and epistemic',
      yLabel: 'variance',
      lines: [
        { metric: 'val/aleatoric_variance', label: 'aleatoric' },
        { metric: 'val/epistemic_variance', label: 'epistemic', isOfDiversity: true },
      ],
    },
  ],
};

export const trainingFamilies: Family[] = [
  {
    id: 'loss',
    section: 'training',
    title: 'Training loss',
    yLabel: 'Training loss',
    lines: [{ metric: 'train/member_{rank}_loss', label: rankLabel }],
  },
  {
    id: 'supervised-loss',
    section: 'training',
    title: 'Supervised loss',
    yLabel: 'nats',
    lines: [{ metric: 'train/member_{rank}_supervised_loss', label: rankLabel, isOptional: true }],
  },
  {
    id: 'coupling-loss',
    section: 'training',
    title: 'Coupling loss',
    yLabel: 'nats',
    lines: [{ metric: 'train/member_{rank}_coupling_loss', label: rankLabel, isOptional: true }],
  },
  {
    id: 'learning-rate',
    section: 'training',
    title: 'Learning rate',
    yLabel: 'per step',
    lines: [{ metric: 'train/member_{rank}_lr', label: rankLabel }],
  },
  {
    id: 'throughput',
    section: 'system',
    title: 'Throughput',
    yLabel: 'samples/s',
    lines: [{ metric: 'train/member_{rank}_samples_per_second', label: rankLabel }],
  },
  {
    id: 'traffic',
    section: 'system',
    title: 'Traffic',
    yLabel: 'bytes/step',
    lines: [{ metric: 'train/member_{rank}_bytes_per_step', label: rankLabel, isOptional: true }],
  },
  {
    id: 'weight-distance',
    section: 'training',
    title: 'Distance between ranks',
    yLabel: 'relative',
    lines: [{ metric: 'train/member_{rank}_weight_distance', label: rankLabel, isOptional: true }],
  },
];

/** The parts of the Live tab that hold charts, in their order. */
export const sectionTitles = {
  quality: 'Quality',
  own: 'Own panels',
  uncertainty: 'Uncertainty',
  training: 'Training',
  system: 'System',
} as const;

export type SectionId = keyof typeof sectionTitles;

export const sectionIds = Object.keys(sectionTitles) as SectionId[];

/** The section of a metric that no family of charts names. */
export function sectionOfMetric(metric: string): SectionId {
  if (!metric.startsWith('train/')) return 'quality';
  return /(_seconds|_bytes|per_second|per_step)$/.test(metric) ? 'system' : 'training';
}

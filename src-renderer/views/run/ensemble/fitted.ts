import { combinationOf } from '../../../../core/protocol/run/strategies/strategy-rules.ts';
import { type TaskKind, taskKinds } from '../../../../core/metrics/registry/metric.ts';
import { type PostprocessingRequest, usualRequest } from '../../../../core/postprocessing/request.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import type { CalibrationRequest } from '../../../../core/protocol/run/checkpoint-tasks.ts';
import { formatMetric } from '../../../../core/text/numbers.ts';
import { formatShare } from '../../../../core/postprocessing/describe.ts';
import type { Measured } from '../../../../core/postprocessing/measured-schema.ts';
import {
  type OutsideScore,
  type Postprocessing,
  predictionScoreNames,
  setMethods,
} from '../../../../core/postprocessing/schema.ts';
import type { ReliabilityDiagramProps } from '../../../charts/types.ts';
import type { Combination } from '../../../../core/metrics/combination.ts';
import { classCalibrationsOf } from '../../../../core/postprocessing/calibration/fit-calibration.ts';
import { labelCalibrations } from '../../../../core/postprocessing/fit-labels.ts';
import { distanceScoreNames } from '../../../../core/postprocessing/outside/distances.ts';

/** What can be fitted for a task; the first of each is the usual one. */
interface PostprocessingChoices {
  /** Empty for quantiles, which have nothing to calibrate. */
  methods: readonly PostprocessingRequest['method'][];
  conformal: readonly PostprocessingRequest['conformal'][];
  /** The scores of predictions, then the distances. */
  outside: readonly OutsideScore[];
  /** Whether sets can have a threshold for each class. */
  hasClasses: boolean;
}

/** What can be fitted for the predictions of a task. */
export function choicesFor(task: TaskKind, combination: Combination): PostprocessingChoices {
  switch (task) {
    case 'classification':
    case 'binary':
    case 'ordinal':
      return {
        methods: classCalibrationsOf(combination),
        conformal: ['auto', ...setMethods],
        outside: allScores,
        hasClasses: true,
      };
    case 'multi-label':
      return { methods: labelCalibrations, conformal: ['thr'], outside: allScores, hasClasses: false };
    case 'quantile-regression':
      return { methods: [], conformal: ['cqr'], outside: ofValues, hasClasses: false };
    case 'regression':
    case 'heteroscedastic-regression':
    case 'poisson-regression':
      return { methods: ['sigma'], conformal: ['sigma-scaled', 'split'], outside: ofValues, hasClasses: false };
  }
}

const allScores: readonly OutsideScore[] = [...predictionScoreNames, ...distanceScoreNames];
const ofValues: readonly OutsideScore[] = ['variance', ...distanceScoreNames];

/** A choice of a list, with a sentence that explains it. */
export interface Choice<T extends string> {
  id: T;
  title: string;
  help: string;
}

const methodTexts: Record<
  Exclude<PostprocessingRequest['method'], 'auto' | 'none'>,
  { title: string; help: string }
> = {
  'pooled-temperature': {
    title: 'Temperature after averaging',
    help: "One temperature of the ensemble's probabilities (Rahaman and Thiery, 2021).",
  },
  'shared-temperature': {
    title: 'One temperature before averaging',
    help: "One temperature of all members' logits, for the NLL of the ensemble.",
  },
  'member-temperatures': {
    title: 'A temperature for each member',
    help: 'Each for the NLL of the member alone. The ensemble is then often not certain enough.',
  },
  'joint-temperatures': {
    title: 'Temperatures of all members together',
    help: 'One for each member, together for the NLL of the ensemble (Fredsgaard and Schmidt, 2025).',
  },
  vector: { title: 'Vector', help: "A scale and a bias for each class's log-probability (Guo et al., 2017)." },
  dirichlet: {
    title: 'Dirichlet',
    help:
      'A matrix and a bias of the log-probabilities, regularized (Kull et al., 2019). It needs hundreds of ' +
      'samples of each class.',
  },
  isotonic: {
    title: 'Isotonic',
    help: 'A monotone map for each class (Zadrozny and Elkan, 2002). It needs hundreds of samples of each class.',
  },
  'label-temperature': {
    title: 'One temperature',
    help: "One temperature of the logits of the ensemble's probabilities of all labels.",
  },
  'label-temperatures': { title: 'A temperature for each label', help: 'Each for the NLL of its label.' },
  platt: { title: 'Platt', help: "A scale and a bias for each label, with Platt's targets (1999)." },
  sigma: { title: 'Scaled deviations', help: 'A factor of the standard deviations (Laves et al., 2020).' },
};

const conformalTexts: Record<
  Exclude<PostprocessingRequest['conformal'], 'auto' | 'none'>,
  { title: string; help: string }
> = {
  raps: {
    title: 'RAPS sets',
    help: 'Sets that adapt to each sample, with a penalty for each further class (Angelopoulos et al., 2021).',
  },
  aps: {
    title: 'APS sets',
    help: 'Sets that adapt to each sample (Romano et al., 2020). They are large where members are very certain.',
  },
  thr: { title: 'Threshold sets', help: 'The smallest sets on average (Sadinle et al., 2019).' },
  split: { title: 'Intervals of one width', help: 'The mean plus and minus one margin.' },
  'sigma-scaled': { title: 'Scaled intervals', help: 'Widths in proportion to the standard deviation.' },
  cqr: { title: 'Widened quantiles', help: 'Conformalized quantile regression (Romano et al., 2019).' },
};

const outsideHelp = {
  predictions: 'A score of what the members predict.',
  features: "The distance to training samples of what enters each member's last layer.",
  inputs: 'The distance of the inputs to those of training samples.',
};

/** What the lists of a run offer: the usual choice first, then each by name, then none. */
export function listsFor({ task, config }: Pick<RunRecord, 'task' | 'config'>) {
  const kind = taskKinds.find((known) => known === task);
  if (kind === undefined) throw new Error(`Nothing is known to calibrate for the task "${task}".`);
  const { methods, conformal, outside, hasClasses } = choicesFor(kind, combinationOf(config.strategy, kind));
  return {
    methods: listOf(methods, methodTexts, { help: 'Probabilities and deviations stay as they are.' }),
    conformal: listOf(conformal, conformalTexts, { help: 'No sets or intervals.' }),
    outside: listOf(outside, Object.fromEntries(outside.map((score) => [score, outsideText(score)])), {
      help: 'No sample counts as outside the training data.',
    }),
    hasClasses,
  };
}

function outsideText(score: string): { title: string; help: string } {
  const isDistance = score.endsWith('mahalanobis') || score.endsWith('knn');
  const help = score.startsWith('input-')
    ? outsideHelp.inputs
    : isDistance
      ? outsideHelp.features
      : outsideHelp.predictions;
  return { title: score.replaceAll('-', ' '), help };
}

function listOf<T extends string>(
  ids: readonly T[],
  texts: Readonly<Record<string, { title: string; help: string }>>,
  none: { help: string },
): Choice<T | 'auto' | 'none'>[] {
  const named = ids.filter((id) => id !== 'auto' && id !== 'none').map((id) => ({ id, ...texts[id] }));
  // Where the choice is made from the samples, no method is the usual one.
  if (ids.includes('auto' as T)) {
    const help = 'The method with the smallest sets of the wished coverage on other samples.';
    return [{ id: 'auto', title: 'The smallest valid ones', help }, ...named, { id: 'none', title: 'None', ...none }];
  }
  const usual = named.at(0);
  return [
    ...(usual === undefined ? [] : [{ id: 'auto' as const, title: `Usual: ${usual.title}`, help: usual.help }]),
    ...named.slice(1),
    { id: 'none', title: 'None', ...none },
  ];
}

/** What a user fills in; numbers are texts until they are read. */
interface CalibrationForm {
  set: CalibrationRequest['set'];
  split: CalibrationRequest['split'];
  method: PostprocessingRequest['method'];
  calibrationShare: string;
  conformal: PostprocessingRequest['conformal'];
  alpha: string;
  isClassConditional: boolean;
  outside: PostprocessingRequest['outside'];
  quantile: string;
  /** Empty: no threshold. */
  risk: string;
}

/** The usual form: what suits the task, for the set that the run's figures are of. */
export function usualForm(sets: readonly CalibrationRequest['set'][]): CalibrationForm {
  const { method, calibrationShare, conformal, alpha, isClassConditional, outside, quantile } = usualRequest;
  return {
    set: sets.includes('ensemble-best') ? 'ensemble-best' : (sets.at(0) ?? 'final'),
    split: 'validation',
    method,
    calibrationShare: String(calibrationShare),
    conformal,
    alpha: String(alpha),
    isClassConditional,
    outside,
    quantile: String(quantile),
    risk: '',
  };
}

/** The sets of checkpoints that a run has been evaluated with; the last checkpoints of a run that has none. */
export function calibratedSets({ summary }: Pick<RunRecord, 'summary'>): CalibrationRequest['set'][] {
  const known = ['ensemble-best', 'member-best', 'final'] as const;
  const evaluated = known.filter((set) => summary?.evaluatedSets.some((found) => found.set === set));
  return evaluated.length > 0 ? evaluated : ['final'];
}

/** What to ask of the hub, or what is wrong with each field. */
export function readForm(
  form: CalibrationForm,
): { request: CalibrationRequest } | { problems: Partial<Record<keyof CalibrationForm, string>> } {
  const problems: Partial<Record<keyof CalibrationForm, string>> = {};
  const read = (
    field: 'alpha' | 'quantile' | 'calibrationShare' | 'risk',
    rule: string,
    fits: (own: number) => boolean,
  ) => {
    const value = form[field].trim() === '' ? NaN : Number(form[field]);
    if (!fits(value)) problems[field] = `Enter a number ${rule}.`;
    return value;
  };
  const isShare = (value: number): boolean => value > 0 && value < 1;
  const numbers = {
    alpha: read('alpha', 'above 0 and below 1', isShare),
    quantile: read('quantile', 'above 0 and below 1', isShare),
    calibrationShare: read('calibrationShare', 'above 0 and at most 1', (value) => value > 0 && value <= 1),
    risk:
      form.risk.trim() === ''
        ? null
        : read('risk', 'of at least 0, or nothing', (value) => value >= 0 && value < Infinity),
  };
  if (Object.keys(problems).length > 0) return { problems };
  const { set, split, method, conformal, outside, isClassConditional } = form;
  const request = { ...usualRequest, method, conformal, outside, isClassConditional, ...numbers };
  return { request: { set, split, request, corruptions: false } };
}

/** Metrics before and after calibration. */
export function figureRows(measured: Measured | null): { name: string; before: number; after: number }[] {
  const { before = {}, after = {} } = measured?.calibration ?? {};
  return Object.entries(before).map(([name, value]) => ({ name, before: value, after: after[name] ?? NaN }));
}

/** Coverage, areas under the risk-coverage curves and flagged samples, a sentence each. */
export function describeFound({ measured, conformal }: Postprocessing): string[] {
  if (measured === null) return [];
  const { conformal: found, selective, outside, split } = measured;
  const sentences: string[] = [];
  if (found !== null && conformal !== null) {
    const size = conformal.kind === 'sets' ? 'classes in a set on average' : 'mean width of intervals';
    sentences.push(
      `Coverage ${formatShare(found.coverage)} ± ${formatShare(found.standardError)}, wished ` +
        `${formatShare(1 - conformal.alpha)}; ${formatMetric(found.meanSize)} ${size}.`,
    );
  }
  if (selective !== null) {
    const areas = `AURC ${formatMetric(selective.aurc)}, AUGRC ${formatMetric(selective.augrc)}`;
    const { chosen } = selective;
    const answers =
      chosen === null ? '' : `; ${formatShare(chosen.coverage)} answered with a risk of ${formatMetric(chosen.risk)}`;
    sentences.push(`${areas}${answers}.`);
  }
  if (outside !== null && Number.isFinite(outside.flagged)) {
    sentences.push(`${formatShare(outside.flagged)} of the ${split} split counts as outside the training data.`);
  }
  return sentences;
}

export const detectionFigureNames = [
  { id: 'auroc', title: 'AUROC', help: 'Area under the ROC curve: 0.5 by chance, 1 at best.' },
  { id: 'auprIn', title: 'AUPR in', help: 'Average precision with the samples inside as positives.' },
  { id: 'auprOut', title: 'AUPR out', help: 'Average precision with the samples outside as positives.' },
  {
    id: 'fpr95',
    title: 'FPR95',
    help: 'Share of the samples inside above the threshold that finds 95 % of those outside.',
  },
] as const;
export type DetectionFigure = (typeof detectionFigureNames)[number]['id'];

/** One figure of each score for each other data set. `isBest` marks the best score of a data set. */
export function detectionTable(measured: Measured | null, figure: DetectionFigure) {
  const others = measured?.outside?.others ?? [];
  const scores = [...new Set(others.flatMap((other) => Object.keys(other.scores)))];
  const rows = others.map(({ name, flagged, scores: found }) => {
    const values = scores.map((score) => found[score]?.[figure] ?? NaN);
    const finite = values.filter(Number.isFinite);
    const best = figure === 'fpr95' ? Math.min(...finite) : Math.max(...finite);
    const figures = values.map((value) => ({ value, isBest: value === best }));
    return { name, flagged: Number.isFinite(flagged) ? flagged : null, figures };
  });
  return { scores, rows };
}

/** The bins before and after calibration, a diagram each; none for values. */
export function reliabilityDiagrams(
  measured: Measured | null,
): { title: string; set: ReliabilityDiagramProps['sets'][number] }[] {
  const { before, after, reliability = null } = measured?.calibration ?? {};
  if (reliability === null || before === undefined || after === undefined) return [];
  return [
    { title: 'Reliability before', set: { label: `ECE ${formatMetric(before.ece)}`, bins: reliability.before } },
    { title: 'Reliability after', set: { label: `ECE ${formatMetric(after.ece)}`, bins: reliability.after } },
  ];
}

/** The risk-coverage curve as columns; null without one. */
export function curveColumns(measured: Measured | null) {
  const curve = measured?.selective?.curve ?? [];
  if (curve.length === 0) return null;
  const columnOf = (name: 'coverage' | 'risk' | 'threshold') => Float64Array.from(curve, (point) => point[name]);
  return { coverage: columnOf('coverage'), risk: columnOf('risk'), threshold: columnOf('threshold') };
}

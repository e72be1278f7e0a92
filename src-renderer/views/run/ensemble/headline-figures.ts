import { answerSubject } from '../../../../core/metrics/combination.ts';
import {
  classificationMetrics,
  countEnsembleMetrics,
  labelEnsembleMetrics,
  mean,
  type Metrics,
  regressionMetrics,
  stackedClasses,
} from '../../../../core/metrics/index.ts';
import { improves, modeFor } from '../../../../core/metrics/metric-mode.ts';
import { type MetricInfo, metricNamed, metricsOfTask } from '../../../../core/metrics/registry/index.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';
import { formatValue } from '../../../../core/text/numbers.ts';
import { brokenRanks } from '../figures/classification-figures.ts';
import { valueStack } from '../figures/regression-figures.ts';

/** One headline number of kept predictions. */
export interface HeadlineFigure {
  /** The metric: `nll`, `ambiguity`. */
  name: string;
  title: string;
  help: string;
  /** Whether a member has this number too, so that a reader must be told whose it is. */
  hasSubject: boolean;
  /** Of the ensemble; NaN where it is unknown. */
  value: number;
  /** The mean of the members' values; null for what only an ensemble has. */
  meanMember: number | null;
  /** Whether the ensemble's value is better than the mean member's; null where neither is. */
  isBetter: boolean | null;
  /** Why the value is not known; null where it is. */
  whyUnknown: string | null;
}

/** The order of the figures. Of these a task has some. */
const scores = ['nll', 'acc', 'mse', 'ece'] as const;
const ofEnsemble = ['ambiguity', 'ensemble_gain', 'disagreement', 'ens_std'] as const;

/**
 * The numbers that say how good an ensemble is and what it gains over its members: computed from kept predictions by
 * the functions that the workers use, so that they are those of the evaluation that kept them. Empty for quantiles, and
 * where members held out different samples.
 *
 * @param nllEpsilon the run's `metrics.nllEpsilon`
 */
export function headlineFigures(data: PredictionData, nllEpsilon: number): HeadlineFigure[] {
  const metrics = metricsOf(data, nllEpsilon);
  if (metrics === null) return [];
  const reason = reasonOf(data);
  const found = scores.flatMap((name) => scoreFigure(name, metrics, data, reason));
  if (data.ranks.length === 1) return found;
  // Of a task with both, the gain in NLL says more than that in MSE.
  const others = ofEnsemble.filter((name) => name !== 'ensemble_gain' || !metrics.has('ambiguity'));
  return [...found, ...others.flatMap((name) => ensembleFigure(name, metrics, data, reason))];
}

/** A score that ensemble and members have. */
function scoreFigure(
  name: string,
  metrics: Metrics,
  { task, combination, ranks }: PredictionData,
  reason: string,
): HeadlineFigure[] {
  const value = metrics.get(`${answerSubject[combination]}_${name}`);
  const info = metricNamed(`ens_${name}`, metricsOfTask(task))?.info;
  if (value === undefined || info === undefined) return [];
  const ofMembers = ranks.map((rank) => metrics.get(`member_${rank}_${name}`) ?? NaN);
  const meanMember = ranks.length === 1 ? null : mean(ofMembers);
  const isBetter = meanMember === null ? null : isBetterThan(value, meanMember, name);
  return [{ ...describe(name, info, value, reason), hasSubject: true, meanMember, isBetter }];
}

/** What only an ensemble has. */
function ensembleFigure(name: string, metrics: Metrics, { task }: PredictionData, reason: string): HeadlineFigure[] {
  const value = metrics.get(name);
  const info = metricNamed(name, metricsOfTask(task))?.info;
  if (value === undefined || info === undefined) return [];
  return [{ ...describe(name, info, value, reason), hasSubject: false, meanMember: null, isBetter: null }];
}

function describe(name: string, { title, meaning }: MetricInfo, value: number, reason: string) {
  return { name, title, help: meaning, value, whyUnknown: Number.isNaN(value) ? reason : null };
}

/** Null where neither is better, one is unknown, or both read the same. */
function isBetterThan(value: number, other: number, name: string): boolean | null {
  const mode = modeFor(`val/ens_${name}`, 'auto');
  const areKnown = Number.isFinite(value) && Number.isFinite(other);
  return mode === null || !areKnown || formatValue(value) === formatValue(other) ? null : improves(value, other, mode);
}

/** All standard metrics of kept predictions; null for a task whose metrics need more than these. */
function metricsOf(data: PredictionData, nllEpsilon: number): Metrics | null {
  const { task, combination, ranks, samples, width, outputs, targets } = data;
  if (data.areHeldOut || task === 'quantile-regression') return null;
  const options = { nllEpsilon, combination, ...(data.weights && { weights: data.weights }) };
  const members = ranks.length;
  if (data.kind === 'values') {
    const { means, variances, targets: values } = valueStack(data);
    const columns = targets.length / samples;
    if (task === 'poisson-regression') return countEnsembleMetrics(means, values, ranks, { ...options, columns });
    return regressionMetrics(means, variances, values, ranks, { ...options, columns });
  }
  if (task === 'multi-label') {
    if (data.kind !== 'logits') return null;
    return labelEnsembleMetrics({ members, samples, classes: width, logits: outputs[0] }, targets, ranks, options);
  }
  const stack = stackedClasses({ kind: data.kind, members, samples, width, values: outputs[0] });
  return classificationMetrics(
    stack,
    Int32Array.from(targets),
    ranks,
    options,
    task === 'ordinal' ? 'ordinal' : 'classification',
  );
}

function reasonOf(data: PredictionData): string {
  const broken = brokenRanks(data);
  if (broken.length === 0) return 'not a number (NaN)';
  return `predictions of ${broken.length === 1 ? 'member' : 'members'} ${broken.join(', ')} are NaN or infinite`;
}

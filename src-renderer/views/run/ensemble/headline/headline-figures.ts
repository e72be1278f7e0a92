import {
  classificationMetrics,
  countEnsembleMetrics,
  labelEnsembleMetrics,
  mean,
  type Metrics,
  regressionMetrics,
  stackedClasses,
} from '../../../../../core/metrics/index.ts';
import { improves, modeFor } from '../../../../../core/metrics/metric-mode.ts';
import { metricNamed, metricsOfTask } from '../../../../../core/metrics/registry/index.ts';
import type { PredictionData } from '../../../../../core/protocol/pages/run-data.ts';
import { formatValue } from '../../../../../core/text/numbers.ts';
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
 * The numbers that say how good an ensemble is and what it gains over its members: computed from kept predictions by the functions that the
 * workers use, so that they are those of the evaluation that kept them. Empty for quantiles, and where members held out different samples.
 *
 * @param nllEpsilon the run's `metrics.nllEpsilon`
 */
export function headlineFigures(data: PredictionData, nllEpsilon: number): HeadlineFigure[] {
  const metrics = metricsOf(data, nllEpsilon);
  if (metrics === null) return [];
  const task = data.task;
  const reason = reasonOf(data);
  const infoOf = (name: string) => metricNamed(name, metricsOfTask(task))?.info;
  const isSingle = data.ranks.length === 1;
  const first = scores.flatMap((name): HeadlineFigure[] => {
    const value = metrics.get(`ens_${name}`);
    const info = infoOf(`ens_${name}`);
    if (value === undefined || info === undefined) return [];
    const meanMember = isSingle ? null : mean(data.ranks.map((rank) => metrics.get(`member_${rank}_${name}`) ?? NaN));
    const mode = modeFor(`val/ens_${name}`, 'auto');
    // What reads the same is not better.
    const isDecided =
      meanMember !== null &&
      Number.isFinite(value) &&
      Number.isFinite(meanMember) &&
      mode !== null &&
      formatValue(value) !== formatValue(meanMember);
    const isBetter = isDecided ? improves(value, meanMember, mode) : null;
    return [
      {
        name,
        title: info.title,
        help: info.meaning,
        hasSubject: true,
        value,
        meanMember,
        isBetter,
        whyUnknown: Number.isNaN(value) ? reason : null,
      },
    ];
  });
  if (isSingle) return first;
  const further = ofEnsemble.flatMap((name): HeadlineFigure[] => {
    const value = metrics.get(name);
    const info = infoOf(name);
    if (value === undefined || info === undefined || (name === 'ensemble_gain' && metrics.has('ambiguity'))) return [];
    const whyUnknown = Number.isNaN(value) ? reason : null;
    return [
      {
        name,
        title: info.title,
        help: info.meaning,
        hasSubject: false,
        value,
        meanMember: null,
        isBetter: null,
        whyUnknown,
      },
    ];
  });
  return [...first, ...further];
}

/** All standard metrics of kept predictions; null for a task whose metrics need more than these. */
function metricsOf(data: PredictionData, nllEpsilon: number): Metrics | null {
  const { task, ranks, samples, width, outputs, targets } = data;
  if (data.areHeldOut || task === 'quantile-regression') return null;
  const options = data.weights === null ? { nllEpsilon } : { nllEpsilon, weights: data.weights };
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
  return `predictions of ${broken.length === 1 ? 'rank' : 'ranks'} ${broken.join(', ')} are NaN or infinite`;
}

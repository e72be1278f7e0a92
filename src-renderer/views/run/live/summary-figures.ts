import { answerSubject } from '../../../../core/metrics/combination.ts';
import { combinationOf } from '../../../../core/protocol/run/strategies/strategy-rules.ts';
import { improves, type MetricMode, modeFor } from '../../../../core/metrics/metric-mode.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { memberCountOf } from '../../../../core/protocol/run/strategies/ranks-and-members.ts';
import { formatShare, formatShort, formatValue, unknownText, whyUnknown } from '../../../../core/text/numbers.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';
import { metricTitle, subjectOf } from '../run-facts.ts';
import { spread } from '../../../../core/series/extremes.ts';

/** One headline number of a run. */
export interface SummaryFigure {
  id: string;
  title: string;
  value: string;
  detail: string;
  /** Whether the last evaluation made it better; null where neither direction is better or it did not change. */
  isBetter: boolean | null;
  /** The metric whose values its sparkline shows; null for none. */
  metric: string | null;
}

/** The columns of a metric by its name; undefined without points. */
type ColumnsOf = (metric: string) => MetricColumns | undefined;

/**
 * The headline numbers of a run, as far as it has measured them: the monitored metric, its best, what the ensemble
 * gains, how far patience is.
 */
export function summaryFigures(view: RunView, columnsOf: ColumnsOf): SummaryFigure[] {
  const monitor = view.ensembleMonitor;
  const watched = monitor === null ? undefined : columnsOf(monitor);
  if (monitor === null || watched === undefined || watched.length === 0) return [];
  const mode = modeFor(monitor, view.record.config.earlyStopping.mode);
  const subject = answerSubject[combinationOf(view.record.config.strategy, view.record.task)];
  return [
    metricFigure(monitor, `${subjectOf(monitor, view.record.config)} ${nameOf(monitor)}`, watched, mode),
    ...(mode === null ? [] : [bestFigure(watched, mode)]),
    // A single model gains nothing over itself.
    ...(memberCountOf(view.record.config) === 1 ? [] : gainFigure(columnsOf)),
    ...['acc', 'f1', 'mse', 'ece'].flatMap((name) => further(monitor, `val/${subject}_${name}`, columnsOf)).slice(0, 2),
    ...patienceFigure(view, columnsOf),
  ];
}

function further(monitor: string, metric: string, columnsOf: ColumnsOf): SummaryFigure[] {
  const columns = columnsOf(metric);
  if (metric === monitor || columns === undefined || columns.length === 0) return [];
  return [metricFigure(metric, nameOf(metric), columns, modeFor(metric, 'auto'))];
}

/** The last value of a metric, and how far it moved since the evaluation before. */
function metricFigure(metric: string, title: string, columns: MetricColumns, mode: MetricMode | null): SummaryFigure {
  const last = columns.value[columns.length - 1];
  const change = columns.length < 2 ? NaN : last - columns.value[columns.length - 2];
  const hasMoved = Number.isFinite(change) && change !== 0;
  return {
    id: metric,
    title,
    value: formatValue(last),
    detail: hasMoved
      ? `${change > 0 ? '+' : '−'}${formatShort(Number(Math.abs(change).toPrecision(2)))} since the last evaluation`
      : (whyUnknown(last) ?? ''),
    isBetter: hasMoved && mode !== null ? change < 0 === (mode === 'min') : null,
    metric,
  };
}

function bestFigure(columns: MetricColumns, mode: MetricMode): SummaryFigure {
  const index = lastImprovement(columns, mode, 0);
  const isKnown = index !== -1;
  return {
    id: 'best',
    title: 'Best epoch',
    value: isKnown ? String(columns.epoch[index] + 1) : unknownText,
    detail: isKnown ? `${nameOf(columns.name)} ${formatValue(columns.value[index])}` : 'no finite value yet',
    isBetter: null,
    metric: null,
  };
}

/** What the ensemble gains over the mean member: the Jensen gap of the NLL, or the difference of the MSE. */
function gainFigure(columnsOf: ColumnsOf): SummaryFigure[] {
  const metric = ['val/ambiguity', 'val/ensemble_gain'].find((name) => (columnsOf(name)?.length ?? 0) > 0);
  const columns = metric === undefined ? undefined : columnsOf(metric);
  if (metric === undefined || columns === undefined) return [];
  const value = columns.value[columns.length - 1];
  const isNll = metric === 'val/ambiguity';
  const side = value < 0 ? 'above' : 'below';
  const detail = Number.isFinite(value)
    ? `${side} the mean member’s ${isNll ? 'NLL' : 'MSE'}`
    : (whyUnknown(value) ?? '');
  return [{ id: 'gain', title: 'Diversity gain', value: formatValue(value), detail, isBetter: null, metric }];
}

/** Evaluations since the last improvement, of those after which early stopping ends the run. */
function patienceFigure({ record, ensembleMonitor }: RunView, columnsOf: ColumnsOf): SummaryFigure[] {
  const { enabled, joint, monitor, mode, minDelta } = record.config.earlyStopping;
  const metric = monitor === 'auto' ? ensembleMonitor : monitor;
  const columns = metric === null ? undefined : columnsOf(metric);
  const best = metric === null ? null : modeFor(metric, mode);
  if (!enabled || !joint || columns === undefined || columns.length === 0 || best === null) return [];
  const patience = record.changed?.patience ?? record.config.earlyStopping.patience;
  const since = Math.min(patience, evaluationsSince(columns, lastImprovement(columns, best, minDelta)));
  return [
    {
      id: 'patience',
      title: 'Patience',
      value: `${since} of ${patience}`,
      detail: `evaluations without an improvement, ${formatShare(since / patience)}`,
      isBetter: null,
      metric: null,
    },
  ];
}

/** Index of the last value that improved on all before it by more than `minDelta`; -1 if none is finite. */
function lastImprovement({ value, length }: MetricColumns, mode: MetricMode, minDelta: number): number {
  let found = -1;
  for (let index = 0; index < length; index++) {
    if (improves(value[index], found === -1 ? null : value[found], mode, minDelta)) found = index;
  }
  return found;
}

/** The hub thins long metrics, so that steps count evaluations, not points. */
function evaluationsSince({ step, length, isThinned, stepsPerPoint }: MetricColumns, index: number): number {
  if (index === -1) return length;
  if (!isThinned) return length - 1 - index;
  return Math.round((step[length - 1] - step[index]) / stepsPerPoint);
}

/** `NLL` for `val/ens_nll`. */
function nameOf(metric: string): string {
  return metricTitle(metric.replace(/^val\/(ens_|product_)?/, ''));
}

/** The box of a sparkline, in CSS pixels. */
export const sparkline = { width: 64, height: 24, padding: 2 } as const;

/** More points than this do not show in so small a box. */
const maximumPoints = 48;

/**
 * The path of a sparkline through the last point of each part of a metric's steps, scaled to its own range. Values that
 * are not finite leave gaps. Empty for fewer than two points.
 */
export function sparklinePath(values: ArrayLike<number>, length: number): string {
  if (length < 2) return '';
  const picked = [...spread(values, length, maximumPoints)];
  const count = picked.length;
  const finite = picked.filter(Number.isFinite);
  if (finite.length < 2) return '';
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const { width, height, padding } = sparkline;
  const x = (i: number): number => padding + (i * (width - 2 * padding)) / (count - 1);
  const y = (value: number): number =>
    high === low ? height / 2 : padding + ((high - value) * (height - 2 * padding)) / (high - low);
  return picked
    .map((value, i) => {
      if (!Number.isFinite(value)) return '';
      const isFirst = i === 0 || !Number.isFinite(picked[i - 1]);
      return `${isFirst ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

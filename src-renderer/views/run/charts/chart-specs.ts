import { answerSubject, type Combination } from '../../../../core/metrics/combination.ts';
import { type MetricMode, modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import type { OwnMetric } from '../../../../core/metrics/registry/metric.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { metricTitle } from '../run-facts.ts';
import {
  familiesOfTask,
  type Family,
  rankLabel,
  type SectionId,
  sectionOfMetric,
  trainingFamilies,
} from './chart-families.ts';

/** One line of a chart, which may not have points yet. */
export interface LineSpec {
  metric: string;
  label: string;
  role: ChartSeries['role'];
  rank?: number;
}

/** A chart of the Live tab. */
export interface ChartSpec {
  /** Stable: preferences remember the order of charts by it. */
  id: string;
  section: SectionId;
  title: string;
  yLabel: string;
  lines: LineSpec[];
  /** The direction in which the metric improves; null if neither is better. */
  best: MetricMode | null;
  /** Whether values may be negative, so that the axis must be linear. */
  isLinear: boolean;
}

/** What determines the charts of a run. */
export interface ChartedRun {
  task: string;
  ranks: readonly number[];
  /**
   * Whether several ranks share the layers of a member and report the same: only their first has lines, named after the
   * member.
   */
  isPipelined?: boolean;
  /** How the members answer; by the mean unless stated. */
  combination?: Combination;
  /** Members of the ensemble: fewer than ranks if several train one model. */
  memberCount: number;
  /** The project's own metrics. */
  own?: readonly OwnMetric[] | undefined;
  /** Names of the metrics that have points. */
  metrics: ReadonlySet<string>;
  /** Charts of a running run appear before their first points, so that nothing moves when these arrive. */
  isLive: boolean;
}

/** Metrics that other charts already show. */
const shownElsewhere = new Set(['train/loss', 'val/avg_member_nll', 'val/avg_member_mse']);

/** All charts of a run: first those of its task, then those of training, then one for each other metric. */
export function chartSpecs(charted: ChartedRun): ChartSpec[] {
  const run = charted.isPipelined === true ? ofMembers(charted) : charted;
  const families = [...familiesOfTask(run.task), ...trainingFamilies];
  const isDrawn = ({ lines }: ChartSpec) =>
    lines.length > 0 && (run.isLive || lines.some(({ metric }) => run.metrics.has(metric)));
  const claimed = new Set(families.flatMap(({ lines }) => lines.map(({ metric }) => metric)));
  const others = [...run.metrics].filter((metric) => !claimed.has(ofAnyRank(metric)) && !shownElsewhere.has(metric));
  const grouped = Map.groupBy(others, (metric) => metric.replace(/\/(ens|product|member_\d+)_/, '/'));
  return [
    ...families.map((family) => specOf(family, run)).filter(isDrawn),
    ...[...grouped].map(([name, metrics]) =>
      specOfOthers(name, metrics, {
        best: modeOfMetric(metrics[0]) ?? bestOfOwn(name, run.own),
        noun: run.isPipelined === true ? 'member' : 'rank',
        combination: run.combination,
      }),
    ),
  ];
}

/** A pipelined run without what later stages repeat. */
function ofMembers(run: ChartedRun): ChartedRun {
  const isOfMember = (metric: string): boolean => Number(/\/member_(\d+)_/.exec(metric)?.[1] ?? 0) < run.memberCount;
  const ranks = run.ranks.filter((rank) => rank < run.memberCount);
  return { ...run, ranks, metrics: new Set([...run.metrics].filter(isOfMember)) };
}

/** `val/member_3_nll` as families name it, `val/member_{rank}_nll`. */
function ofAnyRank(metric: string): string {
  return metric.replace(/\/member_\d+_/, '/member_{rank}_');
}

/** The charts in the user's order, followed by the charts that it does not contain. */
export function inOrder<T extends { id: string }>(charts: readonly T[], order: readonly string[]): T[] {
  const describePosition = ({ id }: T) => (order.includes(id) ? order.indexOf(id) : order.length);
  return charts.toSorted((left, right) => describePosition(left) - describePosition(right));
}

/** The ids, with one moved to the place of another. */
export function moved(ids: readonly string[], id: string, target: string): string[] {
  const to = ids.indexOf(target);
  return ids.filter((other) => other !== id).toSpliced(to, 0, id);
}

function specOf(family: Family, run: ChartedRun): ChartSpec {
  const { ranks, memberCount, metrics, isPipelined } = run;
  const isSingle = memberCount === 1;
  // Where several ranks share a model, the first ones are the members.
  const members = isSingle ? [] : ranks.filter((rank) => rank < memberCount);
  return {
    ...family,
    best: modeOfMetric(family.lines[0].metric) ?? null,
    isLinear: family.isLinear ?? false,
    lines: family.lines
      .map((line) => (run.combination === 'product' ? answeringByProduct(line) : line))
      .filter(({ isOfDiversity }) => !(isSingle && (isOfDiversity ?? family.isOfDiversity ?? false)))
      .flatMap(({ metric, label, role = 'other', isOptional }) =>
        linesOf(
          { metric, label: labelOf({ label, role }, { isSingle, isPipelined }), role },
          metric.startsWith('val/') ? members : ranks,
        ).filter((line) => !isOptional || metrics.has(line.metric)),
      ),
  };
}

/** Of members that answer by their product, that is the ensemble; the mean is shown beside it. */
function answeringByProduct(line: Family['lines'][number]): Family['lines'][number] {
  if (line.metric.startsWith('val/product_')) return { ...line, label: 'ensemble', role: 'ensemble' };
  return line.label === 'ensemble' ? { ...line, label: 'mean of members', role: 'variant' } : line;
}

function labelOf(
  { label, role }: Pick<LineSpec, 'label' | 'role'>,
  { isSingle, isPipelined = false }: { isSingle: boolean; isPipelined: boolean | undefined },
): string {
  if (isSingle && (role === 'ensemble' || (isPipelined && label === rankLabel))) return 'model';
  return isPipelined && label === rankLabel ? 'member {rank}' : label;
}

/** One line, or one per rank. */
function linesOf(line: LineSpec, ranks: readonly number[]): LineSpec[] {
  const { metric, label } = line;
  if (!metric.includes('{rank}')) return [line];
  return ranks.map((rank) => {
    const named = (text: string) => text.replace('{rank}', String(rank));
    return { metric: named(metric), label: named(label), role: 'rank', rank };
  });
}

/** A metric of the strategy or the project, with the values of ensemble and members that exist. */
function specOfOthers(
  name: string,
  metrics: readonly string[],
  {
    best,
    noun,
    combination = 'mean',
  }: { best: MetricMode | null; noun: string; combination?: Combination | undefined },
): ChartSpec {
  const ofAnswer = `/${answerSubject[combination]}_`;
  const lines = metrics.map((metric): LineSpec => {
    const rank = /\/member_(\d+)_/.exec(metric)?.[1];
    return rank === undefined
      ? { metric, label: metric, role: metric.includes(ofAnswer) ? 'ensemble' : 'other' }
      : { metric, label: `${noun} ${rank}`, role: 'rank', rank: Number(rank) };
  });
  return {
    id: name,
    section: sectionOfMetric(name),
    title: titleOfOthers(name),
    yLabel: name,
    lines,
    best,
    isLinear: true,
  };
}

/** The direction of the project's own metric that is drawn as `val/own`; null for other metrics. */
function bestOfOwn(name: string, own: readonly OwnMetric[] = []): MetricMode | null {
  const direction = own.find((metric) => `val/${metric.name}` === name)?.direction ?? 'none';
  return direction === 'none' ? null : direction;
}

/** `train/base_weight_decay` as `Adapted weight decay`; the full name of a project's metric is beside the title. */
function titleOfOthers(name: string): string {
  const metric = name.slice(name.indexOf('/') + 1);
  const [, prefix, rest] = /^(base|velocity)_(.+)$/.exec(metric) ?? [];
  if (prefix !== undefined) return `${prefix === 'base' ? 'Adapted' : 'Velocity of'} ${rest.replaceAll('_', ' ')}`;
  return metric === '' ? name : metricTitle(metric);
}

import { modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import { spread } from '../../../charts/frame/table.ts';
import type { PointGroup } from '../../../charts/scatter/scatter.ts';
import { measuredCount, type MetricColumns } from '../../../stores/metric-columns.ts';
import type { ChartSpec, LineSpec } from './chart-specs.ts';
import { z } from 'zod';
import { metricTitle } from '../run-facts.ts';

/**
 * A chart that a user has put together. `{rank}` in the name of a metric stands for every rank of the run that is
 * shown.
 */
export const panelSchema = z.strictObject({
  id: z.string(),
  title: z.string().min(1),
  kind: z.enum(['lines', 'scatter', 'histogram']),
  /** Lines: any number; scatter: those of x and y; histogram: one. */
  metrics: z.array(z.string()).min(1),
  /** What a histogram counts: the last value of each rank, or the values of all steps. */
  over: z.enum(['ranks', 'steps']),
});
export type Panel = z.output<typeof panelSchema>;
type PanelKind = Panel['kind'];

export const panelKinds: Record<PanelKind, string> = { lines: 'Lines', scatter: 'Scatter', histogram: 'Histogram' };

/** How many metrics a panel of each kind needs. */
const metricCounts: Record<PanelKind, { least: number; most: number }> = {
  lines: { least: 1, most: Infinity },
  scatter: { least: 2, most: 2 },
  histogram: { least: 1, most: 1 },
};

/** What a panel still lacks, for its form; null if it is complete. */
export function lackOf({ kind, metrics }: Pick<Panel, 'kind' | 'metrics'>): string | null {
  const { least, most } = metricCounts[kind];
  const chosen = metrics.filter((metric) => metric !== '').length;
  if (chosen >= least && chosen <= most) return null;
  return kind === 'lines' ? 'Choose at least one metric.' : `Choose ${least === 1 ? 'a metric' : 'both metrics'}.`;
}

/** A metric that a panel can show. */
export interface MetricChoice {
  metric: string;
  label: string;
}

/** All metrics of a run, those of its ranks as one, by their labels. */
export function metricChoices(metrics: Iterable<string>): MetricChoice[] {
  const patterns = new Set([...metrics].map((metric) => metric.replace(/\/member_\d+_/, '/member_{rank}_')));
  return [...patterns]
    .map((metric) => ({ metric, label: labelOfMetric(metric) }))
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en'));
}

/** `val/ens_nll` as `NLL, ensemble`, `train/member_{rank}_loss` as `Loss, each rank (training)`. */
export function labelOfMetric(metric: string): string {
  const [, split, subject = '', name] = /^(?:(\w+)\/)?(ens_|member_\{rank\}_)?(.+)$/.exec(metric) ?? [];
  const of = subject === '' ? '' : subject === 'ens_' ? ', ensemble' : ', each rank';
  return `${metricTitle(name)}${of}${split === 'train' ? ' (training)' : ''}`;
}

/** The title of a panel that was not given one. */
export function titleOfPanel({ kind, metrics }: Pick<Panel, 'kind' | 'metrics'>): string {
  const labels = metrics.filter((metric) => metric !== '').map(labelOfMetric);
  if (kind === 'scatter') return `${labels.at(1) ?? ''} over ${labels.at(0) ?? ''}`;
  return labels.join(' and ');
}

type Points = Pick<MetricColumns, 'step' | 'value' | 'length' | 'isThinned' | 'stepsPerPoint'>;
export type PointsOf = (metric: string) => Points | undefined;

/** A metric of one rank, or of no rank in particular. */
interface OfRank {
  metric: string;
  rank: number | undefined;
}

/** `val/member_{rank}_nll` as the metrics of all ranks; any other name as itself. */
function ofEachRank(metric: string, ranks: readonly number[]): OfRank[] {
  if (!metric.includes('{rank}')) return [{ metric, rank: undefined }];
  return ranks.map((rank) => ({ metric: metric.replace('{rank}', String(rank)), rank }));
}

/** A panel of lines as a chart like those of the families. @param noun what its ranks are called */
export function specOfPanel({ id, title, metrics }: Panel, ranks: readonly number[], noun = 'rank'): ChartSpec {
  const isOne = metrics.length === 1;
  const ensemble = ['/product_', '/ens_']
    .flatMap((subject) => metrics.find((metric) => metric.includes(subject)) ?? [])
    .at(0);
  const lines = metrics.flatMap((metric) =>
    ofEachRank(metric, ranks).map(({ metric: name, rank }): LineSpec => {
      const label = labelOfMetric(metric);
      if (rank === undefined) return { metric: name, label, role: metric === ensemble ? 'ensemble' : 'other' };
      const ofRank = isOne ? `${noun} ${rank}` : `${label.replace(', each rank', '')}, ${noun} ${rank}`;
      return { metric: name, label: ofRank, role: 'rank', rank };
    }),
  );
  const yLabel = isOne ? labelOfMetric(metrics[0]) : 'value';
  const best = isOne ? (modeOfMetric(lines.at(0)?.metric ?? '') ?? null) : null;
  return { id, section: 'own', title, yLabel, lines, best, isLinear: false };
}

/** Points of all groups together: more do not show in a panel. */
const maximumPoints = 2000;

export interface ScatterData {
  groups: PointGroup[];
  /** Of `total` points, where there are more than a panel shows. */
  shown: number;
  total: number;
}

/**
 * One metric against another, a group for each rank. Metrics may be measured at different steps: each point has the
 * values of a step of the rarer one, and the latest value that the other one had by then.
 *
 * @param noun what the ranks are called
 */
export function scatterOfPanel(
  { metrics: [x, y] }: Panel,
  ranks: readonly number[],
  pointsOf: PointsOf,
  noun = 'rank',
): ScatterData {
  const perRank = x.includes('{rank}') || y.includes('{rank}');
  const pairs = (perRank ? ranks : [undefined]).flatMap((rank) => {
    const of = (metric: string) => pointsOf(rank === undefined ? metric : metric.replace('{rank}', String(rank)));
    const [ofX, ofY] = [of(x), of(y)];
    const joined = joinLatest(ofX, ofY);
    if (ofX === undefined || ofY === undefined || joined.x.length === 0) return [];
    return [{ rank, ...joined, unread: unreadOf(ofX.length <= ofY.length ? ofX : ofY) }];
  });
  const most = Math.max(1, Math.floor(maximumPoints / Math.max(1, pairs.length)));
  let id = 0;
  const groups = pairs.map(({ rank, x, y }): PointGroup => {
    const kept = spread(x.length, most);
    return {
      label: rank === undefined ? 'run' : `${noun} ${rank}`,
      symbol: 'dot',
      ...(rank === undefined ? {} : { rank }),
      ids: kept.map(() => id++),
      x: kept.map((index) => x[index]),
      y: kept.map((index) => y[index]),
    };
  });
  return { groups, shown: id, total: pairs.reduce((sum, { x, unread }) => sum + x.length + unread, 0) };
}

/** The pairs of values at the steps of the rarer metric, from the first step that both have. */
export function joinLatest(x: Points | undefined, y: Points | undefined): { x: number[]; y: number[] } {
  const joined: { x: number[]; y: number[] } = { x: [], y: [] };
  if (x === undefined || y === undefined) return joined;
  const rarer = x.length <= y.length ? x : y;
  let [ofX, ofY] = [-1, -1];
  for (let index = 0; index < rarer.length; index++) {
    const step = rarer.step[index];
    while (ofX + 1 < x.length && x.step[ofX + 1] <= step) ofX += 1;
    while (ofY + 1 < y.length && y.step[ofY + 1] <= step) ofY += 1;
    if (ofX === -1 || ofY === -1) continue;
    joined.x.push(x.value[ofX]);
    joined.y.push(y.value[ofY]);
  }
  return joined;
}

/** The finite values that a histogram counts: the last of each rank, or those of all steps. */
export function valuesOfPanel(
  { metrics: [metric], over }: Panel,
  ranks: readonly number[],
  pointsOf: PointsOf,
): Float64Array {
  const columns = ofEachRank(metric, ranks).flatMap((one) => pointsOf(one.metric) ?? []);
  const values = columns.flatMap(({ value, length }) => {
    const finite = Array.from(value.subarray(0, length)).filter(Number.isFinite);
    return over === 'steps' ? finite : finite.slice(-1);
  });
  return Float64Array.from(values);
}

/** How many points of a histogram's metrics the hub has and the page does not. */
export function unreadOfPanel(
  { metrics: [metric], over }: Panel,
  ranks: readonly number[],
  pointsOf: PointsOf,
): number {
  if (over === 'ranks') return 0;
  const columns = ofEachRank(metric, ranks).flatMap((one) => pointsOf(one.metric) ?? []);
  return columns.reduce((sum, one) => sum + unreadOf(one), 0);
}

function unreadOf(points: Points): number {
  return measuredCount(points) - points.length;
}

/** Rice's rule, 2 n^(1/3), within 5 and 30. */
export function binCountOf(count: number): number {
  return Math.min(30, Math.max(5, Math.ceil(2 * Math.cbrt(count))));
}

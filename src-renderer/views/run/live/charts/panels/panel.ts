import { z } from 'zod';
import { metricTitle } from '../../../run-facts.ts';

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
export type PanelKind = Panel['kind'];

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

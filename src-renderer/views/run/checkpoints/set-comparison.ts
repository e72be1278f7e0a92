import { modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import type { SetEvaluationResult } from '../../../../core/protocol/run/checkpoint-tasks.ts';

/** One metric of two evaluated sets, side by side. */
export interface ComparedMetric {
  metric: string;
  a: number | null;
  b: number | null;
  /** b - a; null where one is missing. */
  difference: number | null;
  /** The better set; null where they are equal or the metric has no better direction. */
  better: 'a' | 'b' | null;
}

/** The ensemble's metrics of both sets, in their own order. */
export function compareSets(a: SetEvaluationResult | null, b: SetEvaluationResult | null): ComparedMetric[] {
  const names = new Set([...Object.keys(a?.ensemble ?? {}), ...Object.keys(b?.ensemble ?? {})]);
  return [...names].map((metric) => compareMetric(metric, a?.ensemble[metric] ?? null, b?.ensemble[metric] ?? null));
}

/** Mean of the members' values of a metric; null where there are none. */
export function memberMean(result: Pick<SetEvaluationResult, 'members'>, metric: string): number | null {
  const values = result.members[metric] ?? [];
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function compareMetric(metric: string, a: number | null, b: number | null): ComparedMetric {
  const difference = a === null || b === null ? null : b - a;
  return { metric, a, b, difference, better: betterSide(metric, difference) };
}

function betterSide(metric: string, difference: number | null): 'a' | 'b' | null {
  if (difference === null || difference === 0 || Number.isNaN(difference)) return null;
  const mode = modeOfMetric(metric) ?? null;
  if (mode === null) return null;
  return (mode === 'min' ? difference < 0 : difference > 0) ? 'b' : 'a';
}

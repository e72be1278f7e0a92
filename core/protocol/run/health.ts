import type { RunRecord } from './record.ts';

/** The NaN or infinite metrics of a run's last evaluation. */
export interface NotFinite {
  /** Full names such as `val/ens_nll`; names from evaluated sets begin with the set: `final/test/nll`. */
  metrics: string[];
  /** Ranks that have such a metric, ascending. */
  ranks: number[];
}

/**
 * Finds metrics that are not finite, because the status of a finished run does not show them. Null if all are finite.
 */
export function notFiniteOf({ summary }: Pick<RunRecord, 'summary'>): NotFinite | null {
  if (summary === null) return null;
  const last = Object.entries(summary.metrics);
  const sets = summary.evaluatedSets.flatMap(({ set, split, ensemble, members }) => [
    ...Object.entries(ensemble).map(([name, value]) => [`${set}/${split}/${name}`, value] as const),
    ...Object.entries(members).flatMap(([name, values]) =>
      values.map((value, rank) => [`${set}/${split}/member_${rank}_${name}`, value] as const),
    ),
  ]);
  const metrics = [...last, ...sets].flatMap(([name, value]) => (Number.isFinite(value) ? [] : [name]));
  if (metrics.length === 0) return null;
  const ranks = new Set(metrics.flatMap((name) => /\/member_(\d+)_/.exec(name)?.[1] ?? []));
  return { metrics, ranks: [...ranks].map(Number).sort((left, right) => left - right) };
}

/** `not finite: ranks 0, 2`, or the names of up to three metrics if they belong to no rank. Null if all are finite. */
export function describeNotFinite(record: Pick<RunRecord, 'summary'>): string | null {
  const found = notFiniteOf(record);
  if (found === null) return null;
  const { metrics, ranks } = found;
  if (ranks.length > 0) return `not finite: ${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`;
  return `not finite: ${metrics.slice(0, 3).join(', ')}${metrics.length > 3 ? ` and ${metrics.length - 3} more` : ''}`;
}

/** {@link describeNotFinite} of the attempt that ended with the run's summary; null for the other attempts. */
export function describeNotFiniteAttempt(
  record: Pick<RunRecord, 'summary' | 'attempts'>,
  attempt: number,
): string | null {
  const summarized = record.summary?.attempt ?? record.attempts.length;
  return attempt === summarized ? describeNotFinite(record) : null;
}

import type { SeriesColumns } from '../../../../../core/protocol/pages/run-data.ts';

/** The smallest and largest member value at each step of the ensemble's line; NaN where no member has a point. */
export interface MemberBand {
  lower: Float64Array;
  upper: Float64Array;
}

/** The member metrics for an ensemble metric: `val/member_0_nll` and so on for `val/ens_nll` or `val/product_nll`. */
export function memberNamesOf(ensembleMetric: string, names: readonly string[]): string[] {
  const [, before, after] = /^(.*\/)(?:ens|product)_(.+)$/.exec(ensembleMetric) ?? [];
  if (before === undefined) return [];
  return names.filter((name) => {
    const [, rank] = name.startsWith(`${before}member_`) ? (/member_(\d+)_/.exec(name) ?? []) : [];
    return rank !== undefined && name === `${before}member_${rank}_${after}`;
  });
}

export function memberBand(ensemble: SeriesColumns, members: readonly SeriesColumns[]): MemberBand {
  const place = new Map(Array.from(ensemble.step, (step, index) => [step, index]));
  const lower = new Float64Array(ensemble.step.length).fill(NaN);
  const upper = new Float64Array(ensemble.step.length).fill(NaN);
  for (const { step, value } of members) {
    for (const [index, at] of step.entries()) {
      const target = place.get(at);
      if (target === undefined || Number.isNaN(value[index])) continue;
      lower[target] = Number.isNaN(lower[target]) ? value[index] : Math.min(lower[target], value[index]);
      upper[target] = Number.isNaN(upper[target]) ? value[index] : Math.max(upper[target], value[index]);
    }
  }
  return { lower, upper };
}

import { expectedRandomHits, idealHits } from '../../../../core/discovery/hits.ts';
import type { PlotLine } from '../../../charts/scatter/types.ts';
import type { ColorToken } from '../../../charts/types.ts';
import type { DiscoveryView } from '../../../../core/protocol/pages/discovery/discovery-views.ts';

/** A line of hits over labels. */
export interface HitLine {
  label: string;
  color: ColorToken;
  /** Dashed lines are computed, not searched. */
  isDashed: boolean;
  /** Labels and hits, both of shape `[L]`. */
  x: Float64Array;
  y: Float64Array;
}

/** The colour of an arm: the chosen acquisition is in ink. */
export function armColor(at: number): ColorToken {
  return at === 0 ? 'text' : `rank-${at - 1}`;
}

/** The best label of each arm after each of its labels. */
export function bestLines({ arms, search }: Pick<DiscoveryView, 'arms' | 'search'>): PlotLine[] {
  const better = search.goal.kind === 'minimize' ? Math.min : Math.max;
  return arms.map(({ arm, labels }, at) => {
    let best = NaN;
    const y = labels.map((label) => (best = Number.isNaN(best) ? label : better(best, label)));
    return { label: arm, color: armColor(at), isStep: true, x: labels.map((_, place) => place + 1), y };
  });
}

/** The end of the axis of hits: a little above what the searches found. The ideal would leave them a strip at the bottom. */
export function highestHits({ arms }: Pick<DiscoveryView, 'arms'>): number {
  return 1.05 * Math.max(1, ...arms.map(({ hits }) => hits.at(-1) ?? 0));
}

/** The hits of each arm, of labels at random in the mean, and of a search that knew the hits, as far as it fits below {@link highestHits}. */
export function hitLines(view: Pick<DiscoveryView, 'arms' | 'pool'>): HitLine[] {
  const { arms, pool } = view;
  const lines = arms.map(({ arm, hits }, at): HitLine => {
    const x = Float64Array.from(hits, (_, i) => i + 1);
    return { label: arm, color: armColor(at), isDashed: false, x, y: Float64Array.from(hits) };
  });
  const most = Math.max(0, ...arms.map(({ hits }) => hits.length));
  if (pool === null || most === 0) return lines;
  const x = Float64Array.from({ length: Math.max(0, most - pool.started + 1) }, (_, i) => pool.started + i);
  const random = x.map((labels) => expectedRandomHits(labels, pool));
  const ideal = x.map((labels) => idealHits(labels, pool)).filter((hits) => hits <= highestHits(view));
  return [
    ...lines,
    { label: 'at random, expected', color: 'rank-6', isDashed: true, x, y: random },
    { label: 'ideal', color: 'rank-7', isDashed: true, x: x.subarray(0, ideal.length), y: ideal },
  ];
}

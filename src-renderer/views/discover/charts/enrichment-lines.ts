import { enrichmentFactor } from '../../../../core/discovery/hits.ts';
import type { DiscoveryView } from '../../../../core/protocol/pages/discovery/discovery-views.ts';
import type { PlotLine, PointGroup } from '../../../charts/scatter/types.ts';
import { armColor } from './hit-lines.ts';

type Found = Pick<DiscoveryView, 'arms' | 'pool' | 'search' | 'start'>;

/** The share of hits of each arm after each round; where the pool's hits are known over their share in the pool, the enrichment factor. */
export function enrichmentLines({ arms, pool, search, start }: Found): PlotLine[] {
  return arms.map(({ arm, hits }, at) => {
    const ends = roundEnds(hits.length, start.indices.length, search.perRound);
    const y = ends.map((labels) => shareOf(hits[labels - 1] ?? NaN, labels, pool));
    return { label: arm, color: armColor(at), x: ends.map((_, round) => round), y };
  });
}

/** The same of each batch of the first arm alone. */
export function batchShares({ arms: [first], pool, search, start }: Found): PointGroup {
  const { hits } = first;
  const ends = roundEnds(hits.length, start.indices.length, search.perRound);
  const rounds = ends.slice(1).map((_, at) => at + 1);
  const y = rounds.map((round) => {
    const [before, after] = [ends[round - 1], ends[round]];
    return shareOf(hits[after - 1] - (hits[before - 1] ?? 0), after - before, pool);
  });
  return { label: `${first.arm}, each batch`, symbol: 'ring', color: 'text', ids: rounds, x: rounds, y };
}

/** Labels after the start and after each whole round. */
function roundEnds(labels: number, started: number, perRound: number): number[] {
  if (labels < started) return [];
  const whole = Math.ceil((labels - started) / perRound);
  return Array.from({ length: whole + 1 }, (_, round) => Math.min(labels, started + round * perRound));
}

function shareOf(found: number, labels: number, pool: DiscoveryView['pool']): number {
  return pool === null ? found / labels : enrichmentFactor(found, labels, pool);
}

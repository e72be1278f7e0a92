import { hasHits } from '../../../../core/discovery/progress.ts';
import type { SearchGoal } from '../../../../core/discovery/search.ts';
import type { ChosenBatch, DiscoveryView, RoundPrediction } from '../../../../core/protocol/pages/discovery-views.ts';
import type { PointGroup } from '../../../charts/scatter/scatter.ts';

/** Candidates with their places on a chart. */
export type Places = Readonly<Record<'x' | 'y', (candidate: number) => number>>;

const outcomes = [
  { outcome: true, label: 'hit', symbol: 'dot', color: 'good' },
  { outcome: false, label: 'no hit', symbol: 'cross', color: 'bad' },
  { outcome: null, label: 'asked', symbol: 'ring', color: 'accent' },
] as const;

/** The candidates chosen in a round, by what came out. */
export function chosenGroups(
  { search }: Pick<DiscoveryView, 'search'>,
  { indices, isHit }: ChosenBatch,
  places: Places,
): PointGroup[] {
  if (!hasHits(search.goal)) return [pointsOf({ label: 'chosen', symbol: 'dot', color: 'accent' }, indices, places)];
  return outcomes
    .map(({ outcome, ...look }) =>
      pointsOf(
        { ...look, label: `chosen, ${look.label}` },
        indices.filter((_, at) => isHit[at] === outcome),
        places,
      ),
    )
    .filter(({ ids }) => ids.length > 0);
}

/** Candidates of a pool, faint, behind the others. */
export function poolGroup(indices: readonly number[], places: Places): PointGroup {
  return { ...pointsOf({ label: 'pool', symbol: 'dot', color: 'text-muted' }, indices, places), isFaded: true };
}

/** Shares of the shown candidates that a map marks as the best predicted ones. */
const bestShares = [
  { share: 0.01, label: 'best 1 %', color: 'rank-1' },
  { share: 0.1, label: 'best 10 %', color: 'rank-4' },
] as const;

/** All shown candidates, those with the best predictions marked. */
export function rankedGroups(goal: SearchGoal, { indices, means }: RoundPrediction, places: Places): PointGroup[] {
  const sign = goal.kind === 'minimize' ? -1 : 1;
  const order = Array.from(indices, (_, at) => at).sort((a, b) => sign * (means[b] - means[a]) || a - b);
  let taken = 0;
  const marked = bestShares.map(({ share, ...look }) => {
    const end = Math.max(taken + 1, Math.ceil(share * order.length));
    const own = order.slice(taken, end).map((at) => indices[at]);
    taken = end;
    return pointsOf({ ...look, symbol: 'dot' }, own, places);
  });
  return [
    poolGroup(
      order.slice(taken).map((at) => indices[at]),
      places,
    ),
    ...marked.toReversed(),
  ];
}

/** Hits that were known before a round. */
export function earlierHits(
  { start, choices }: Pick<DiscoveryView, 'start' | 'choices'>,
  round: number,
  places: Places,
): PointGroup {
  const batches = [start, ...choices.filter((batch) => batch.round < round)];
  const hits = batches.flatMap(({ indices, isHit }) => indices.filter((_, at) => isHit[at] === true));
  return pointsOf({ label: 'hits before', symbol: 'ring', color: 'good' }, hits, places);
}

function pointsOf(
  look: Pick<PointGroup, 'label' | 'symbol' | 'color'>,
  ids: readonly number[],
  { x, y }: Places,
): PointGroup {
  return { ...look, ids, x: ids.map(x), y: ids.map(y) };
}

/** Where candidates lie with their predictions: mean and deviation. */
export function predictedPlaces({
  indices,
  means,
  deviations,
}: Pick<RoundPrediction, 'indices' | 'means' | 'deviations'>): Places {
  const at = new Map(Array.from(indices, (candidate, place) => [candidate, place]));
  return {
    x: (candidate) => means[at.get(candidate) ?? -1] ?? NaN,
    y: (candidate) => deviations[at.get(candidate) ?? -1] ?? NaN,
  };
}

import { hasHits } from '../../../../core/discovery/progress.ts';
import type {
  ChosenBatch,
  DiscoveryView,
  RoundPrediction,
} from '../../../../core/protocol/pages/discovery/discovery-views.ts';
import type { PointGroup } from '../../../charts/scatter/types.ts';

/** Candidates with their places on a chart. */
type Places = Readonly<Record<'x' | 'y', (candidate: number) => number>>;

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

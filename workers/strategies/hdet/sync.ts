import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Member } from '../../member/member.ts';
import type { Replicas } from '../data-parallel/replicas.ts';
import type { StrategyEvent } from '../strategy.ts';
import type { Adaptation } from './controller.ts';

/** Arrays for the weights of a sync, reused because new ones of this size would trigger garbage collections. */
export interface SyncArrays {
  own: Float32Array<ArrayBuffer>;
  mean: Float32Array<ArrayBuffer>;
}

/** What ranks learn about each other in a sync. Arrays have one entry per rank. */
export interface SyncOutcome {
  /** ‖w − w̄‖ / ‖w̄‖ of this rank's weights w before the sync, with the mean w̄ over the ranks. */
  distance: number;
  distances: number[];
  /** Mean losses since the last sync. */
  losses: number[];
}

/** Replaces every rank's weights by their mean. @param loss this rank's mean loss since the last sync */
export async function averageWeights(
  group: ProcessGroup,
  member: Member,
  weights: Replicas,
  arrays: SyncArrays,
  loss: number,
): Promise<SyncOutcome> {
  const own = await weights.read(arrays.own);
  const mean = await weights.mean(own, arrays.mean);
  const distance = relativeDistance(own, mean);
  const all = await group.allGather(Float64Array.of(loss, distance));
  weights.write(mean);
  member.constrain();
  return { distance, distances: all.map(([, ofRank]) => ofRank), losses: all.map(([ofRank]) => ofRank) };
}

/**
 * Reports a sync. Every rank reports its distance; the first rank also reports the new bases, which are the same on
 * all.
 * @param adaptations empty before the warm-up has passed
 */
export function syncEvent(
  group: ProcessGroup,
  { distance, distances }: SyncOutcome,
  adaptations: readonly Adaptation[],
): StrategyEvent {
  const named = adaptations.map((adapted) => ({ ...adapted, name: metricName(adapted.name) }));
  const points = new Map([[`train/member_${group.rank}_weight_distance`, distance]]);
  if (group.rank === group.ranks[0]) {
    for (const { name, base, velocity } of named) {
      points.set(`train/base_${name}`, base);
      points.set(`train/velocity_${name}`, velocity);
    }
  }
  const bases = named.map(({ name, base }) => `${name} ${base.toPrecision(4)}`);
  const furthest = Math.max(...distances).toPrecision(3);
  return {
    kind: 'sync',
    message:
      [`Weights averaged, ranks at most ${furthest} of their norm apart from the mean`, ...bases].join('; ') + '.',
    data: { distances, adaptations: named },
    points,
  };
}

/** `weightDecay/head` as metrics spell it: `weight_decay_head`. */
export function metricName(scalar: string): string {
  return scalar.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('/', '_');
}

/** ‖w − w̄‖ / ‖w̄‖ */
function relativeDistance(own: Float32Array, mean: Float32Array): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < own.length; i++) {
    const distance = own[i] - mean[i];
    difference += distance * distance;
    size += mean[i] * mean[i];
  }
  return Math.sqrt(difference / size);
}

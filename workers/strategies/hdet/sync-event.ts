import type { StrategyEvent } from '../strategy.ts';
import type { Adaptation } from './controller.ts';

interface Sync {
  rank: number;
  isFirst: boolean;
  /** ‖w − w̄‖ / ‖w̄‖ of this rank's weights before they were averaged. */
  distance: number;
  /** Of all ranks. */
  distances: readonly number[];
  /** Names as metrics spell them; none before the warm-up has passed. */
  adaptations: readonly Adaptation[];
}

/** Tells what a sync found and did. Each rank brings its distance, the first rank also what is the same on all. */
export function syncEvent({ rank, isFirst, distance, distances, adaptations }: Sync): StrategyEvent {
  const points = new Map([[`train/member_${rank}_weight_distance`, distance]]);
  if (isFirst) {
    for (const { name, base, velocity } of adaptations) {
      points.set(`train/base_${name}`, base);
      points.set(`train/velocity_${name}`, velocity);
    }
  }
  const bases = adaptations.map(({ name, base }) => `${name} ${base.toPrecision(4)}`);
  const furthest = Math.max(...distances).toPrecision(3);
  return {
    kind: 'sync',
    message:
      [`Weights averaged, ranks at most ${furthest} of their norm apart from the mean`, ...bases].join('; ') + '.',
    data: { distances, adaptations },
    points,
  };
}

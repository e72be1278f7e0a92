import { nondominationRanks } from './front.ts';
import { chooseSubset } from './subset.ts';

/**
 * Whole fronts of non-dominated sorting as long as they fit, then those of the next front that add most hypervolume.
 *
 * Source: Ozaki et al., "Multiobjective tree-structured Parzen estimator", 2022.
 */
export function chooseFronts(losses: readonly (readonly number[])[], size: number): number[] {
  const ranks = nondominationRanks(losses, size);
  const chosen: number[] = [];
  for (let rank = 0; chosen.length < size; rank++) {
    const front = ranks.flatMap((other, row) => (other === rank ? [row] : []));
    if (chosen.length + front.length <= size) chosen.push(...front);
    else {
      const rows = front.map((row) => losses[row]);
      const subset = chooseSubset(rows, size - chosen.length, referencePoint(rows));
      chosen.push(...subset.map((place) => front[place]));
    }
  }
  return chosen;
}

/** Slightly worse than the worst loss of each objective. */
function referencePoint(losses: readonly (readonly number[])[]): number[] {
  return losses[0].map((_, objective) => {
    const worst = losses.reduce((most, row) => Math.max(most, row[objective]), -Infinity);
    return Math.max(1.1 * worst, 0.9 * worst) || 1e-12;
  });
}

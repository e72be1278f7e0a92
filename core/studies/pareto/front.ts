/** Whether losses dominate others: nowhere larger and somewhere smaller. */
export function dominates(left: readonly number[], right: readonly number[]): boolean {
  let smaller = false;
  for (const [objective, loss] of left.entries()) {
    if (loss > right[objective]) return false;
    if (loss < right[objective]) smaller = true;
  }
  return smaller;
}

/** The rows that no other row dominates, in ascending order. Equal rows are on the front together. */
export function paretoFront(losses: readonly (readonly number[])[]): number[] {
  const ranks = nondominationRanks(losses, 1);
  return ranks.flatMap((rank, row) => (rank === 0 ? [row] : []));
}

/**
 * Ranks of non-dominated sorting: 0 for the Pareto front, 1 for the front without those, and so on. Equal rows share a
 * rank.
 *
 * Source: Deb et al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", 2002.
 *
 * @param enough ranks are right for the best `enough` rows; the rows behind them all share the next rank
 */
export function nondominationRanks(losses: readonly (readonly number[])[], enough = losses.length): number[] {
  // In lexicographic order no row dominates one before it.
  let remaining = losses.map((_, row) => row).toSorted((left, right) => compareRows(losses[left], losses[right]));
  const ranks = losses.map(() => 0);
  let ranked = 0;
  for (let rank = 0; remaining.length > 0; rank++) {
    const front: number[] = [];
    const rest: number[] = [];
    for (const row of ranked >= enough ? [] : remaining) {
      (front.some((other) => dominates(losses[other], losses[row])) ? rest : front).push(row);
    }
    for (const row of ranked >= enough ? remaining : front) ranks[row] = rank;
    ranked += front.length;
    remaining = rest;
  }
  return ranks;
}

/** Lexicographic order. */
export function compareRows(left: readonly number[], right: readonly number[]): number {
  for (const [column, value] of left.entries()) {
    if (value !== right[column]) return value < right[column] ? -1 : 1;
  }
  return 0;
}

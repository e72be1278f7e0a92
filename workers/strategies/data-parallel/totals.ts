/**
 * What travels with the gradients of V variables, shape `[2 + V]`: the weight of a rank's samples, their weighted loss, and for each
 * variable 1 where this rank's loss depends on it, else 0. A mean or a sum over the ranks is 0 only where no rank's loss does: so all
 * ranks agree on which variables a step updates, as one rank with all the samples would (PyTorch skips a parameter whose gradient
 * is None). Zeros and ones are exact in every float type.
 */
export interface Totals {
  weight: number;
  weightedLoss: number;
  isReached: readonly boolean[];
}

/** 2 + V */
export function totalsLength(variables: number): number {
  return 2 + variables;
}

/** Numbers to be reduced over the ranks, shape `[2 + V]`. */
export function encodeTotals({ weight, weightedLoss, isReached }: Totals): number[] {
  return [weight, weightedLoss, ...isReached.map(Number)];
}

/** What a reduction (sum or mean) over the ranks gave. */
export function decodeTotals(reduced: Float32Array | Float64Array): Totals {
  const [weight, weightedLoss] = reduced;
  return { weight, weightedLoss, isReached: Array.from(reduced.subarray(2), (count) => count > 0) };
}

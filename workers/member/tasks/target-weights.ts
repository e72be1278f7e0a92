import type { Dataset } from '../../data/dataset.ts';

/**
 * Weights of a split's targets for its metrics, in the shape of the targets: a sample's weight where the mask counts the target, else 0.
 * Undefined where the split has neither.
 */
export function targetWeights({ targets, length, weights, mask }: Dataset): Float64Array | undefined {
  if (weights === undefined && mask === undefined) return undefined;
  const width = targets.length / length;
  return Float64Array.from(
    { length: targets.length },
    (_, index) => (weights?.[Math.floor(index / width)] ?? 1) * (mask?.[index] ?? 1),
  );
}

/** @throws Error where no target of a split counts */
export function requireCounted(dataset: Dataset): void {
  if (targetWeights(dataset)?.some((weight) => weight > 0) ?? true) return;
  throw new Error(
    `No target of ${dataset.name} counts: each is masked, or its sample has weight 0. A split needs one that counts; correct weights and mask.`,
  );
}

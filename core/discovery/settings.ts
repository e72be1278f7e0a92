import { z } from 'zod';
import { distanceKinds } from './batches/distances.ts';

/** How a search chooses what to label next. */

export const acquisitionKinds = ['ucb', 'ei', 'pi', 'thompson', 'greedy', 'bald', 'entropy', 'qpo', 'random'] as const;
export const batchKinds = ['top', 'centres', 'clusters', 'fantasies'] as const;

export const acquisitionSchema = z.strictObject({
  /**
   * How candidates are scored: `ucb` (mean + κ · deviation), `ei` and `pi` (expected improvement, its probability), `thompson` (each choice by a drawn
   * member), `greedy` (mean), `bald` (what a label would say about the members), `entropy`, `qpo` (members that rank it first), `random`.
   */
  kind: z.enum(acquisitionKinds),
  /**
   * How a batch is chosen: the best scores (`top`), or among the best candidates some that lie far apart (`centres`), one of each cluster (`clusters`),
   * or one by one, each as if the ones before had their expected value (`fantasies`).
   */
  batch: z.enum(batchKinds).default('top'),
  /** Weight of the deviation in `ucb` (κ). */
  kappa: z.number().min(0).default(1),
  /** Improvement that `ei` and `pi` ask for beyond the best (ξ). */
  xi: z.number().default(0),
  /** The batches `centres` and `clusters` choose among this many times their size of the best candidates. */
  shortlist: z.int().min(1).default(10),
  /** How far candidates lie apart for these batches: by their coordinates, or by the Tanimoto coefficient, which suits fingerprints. */
  distance: z.enum(distanceKinds).default('euclidean'),
});
export type Acquisition = z.output<typeof acquisitionSchema>;
export type AcquisitionKind = Acquisition['kind'];

/** Why an acquisition cannot have its kind of batch; null if it can. */
export function whyNoBatch({ kind, batch }: Pick<Acquisition, 'kind' | 'batch'>): string | null {
  if (batch === 'top') return null;
  const hasNoScores = kind === 'random' || kind === 'thompson' || kind === 'qpo';
  if (hasNoScores)
    return `${kind} chooses a whole batch itself. Omit the batch ${batch}, or choose it with ucb, ei, pi or greedy.`;
  if (batch === 'fantasies' && kind !== 'ucb' && kind !== 'ei' && kind !== 'pi') {
    return `Fantasies change only the deviation of candidates, which ${kind} does not use. Choose ucb, ei or pi, or another batch.`;
  }
  return null;
}

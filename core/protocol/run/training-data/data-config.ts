import { z } from 'zod';

/** How samples reach the ranks, and which of them each rank trains on. */
export const dataSchema = z.strictObject({
  mode: z
    .enum(['local', 'broadcast', 'shared'])
    .default('local')
    .meta({
      help:
        'Source of the training samples: a separate copy for each rank, batches that the first rank broadcasts, or one copy in memory for ' +
        'all ranks of the machine.',
    }),
  bagging: z.boolean().default(false).meta({
    help: 'Each rank trains on a bootstrap sample: as many samples as the training split has, drawn with replacement.',
  }),
  holdOut: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({
      help:
        'Share of the training split that each rank holds out to validate on. Every held-out sample is held out by two ranks, whose mean is ' +
        'the ensemble for it (Fredsgaard and Schmidt, 2025). 0: the validation split of the project.',
    }),
  folds: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .meta({ help: 'Number of folds of a cross-validation (k); 0: none.', unit: 'folds' }),
  fold: z.int().min(0).default(0).meta({
    help: 'The fold, from 0, that the project makes its test split: one run for each. Not with `data.foldPerRank`.',
  }),
  foldPerRank: z.boolean().default(false).meta({
    help: 'Rank r holds out fold r mod k of the training split to validate on, so that one run is a whole cross-validation.',
  }),
});
export type DataConfig = z.output<typeof dataSchema>;

/** Whether ranks validate on samples of the training split, each on its own. */
export function holdsOut({ holdOut, foldPerRank }: DataConfig): boolean {
  return holdOut > 0 || foldPerRank;
}

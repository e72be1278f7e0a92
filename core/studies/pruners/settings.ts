import { z } from 'zod';

const halving = {
  minimumResource: z.int().min(1).default(1).meta({ help: 'Steps of the first rung.' }),
  maximumResource: z.int().min(1).meta({ help: 'Steps of a whole trial.' }),
  reductionFactor: z
    .int()
    .min(2)
    .default(3)
    .meta({ help: 'One of so many trials goes on to the next rung, which has so many times its steps.' }),
};

/**
 * When a study stops or pauses trials. `median` stops a trial whose best value is worse than the median of others at
 * the same step; `wilcoxon` one that is worse than the best trial over the splits of the data. The others pause trials
 * at rungs and resume the best from their state: `halving` waits for all trials of a rung, `asha` continues with
 * whichever is in the best share so far, `hyperband` runs brackets with different first rungs.
 */
export const prunerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('median'),
    startupTrials: z.int().min(0).default(5).meta({ help: 'No trial is stopped before so many are complete.' }),
    warmupSteps: z.int().min(0).default(0).meta({ help: 'No trial is stopped before this step.' }),
    intervalSteps: z.int().min(1).default(1).meta({ help: 'Steps between two checks.' }),
    minimumTrials: z.int().min(1).default(1).meta({ help: 'Complete trials that must have reported at the step.' }),
  }),
  z.strictObject({
    kind: z.literal('wilcoxon'),
    threshold: z.number().min(0).max(1).default(0.1).meta({ help: 'p-value below which a trial is stopped.' }),
    startupSteps: z.int().min(0).default(2).meta({ help: 'Splits that a trial runs in any case.' }),
  }),
  z.strictObject({
    kind: z.literal('halving'),
    ...halving,
    trials: z.int().min(1).default(27).meta({ help: 'Trials that begin together.' }),
  }),
  z.strictObject({ kind: z.literal('asha'), ...halving }),
  z.strictObject({ kind: z.literal('hyperband'), ...halving }),
]);
export type Pruner = z.infer<typeof prunerSchema>;
export type RungPruner = Extract<Pruner, { maximumResource: number }>;

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

/** When a study stops or pauses trials. */
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

/**
 * All pruners, in the order in which pages list them. Those with rungs pause trials there, and resume the best from
 * their state.
 */
export const pruners: { readonly [Kind in Pruner['kind']]: { label: string; help: string } } = {
  none: { label: 'None', help: 'Every trial trains to its end.' },
  median: { label: 'Median', help: 'Stops a trial that is worse than half of the others at the same step.' },
  wilcoxon: {
    label: 'Wilcoxon',
    help: 'Stops a trial that is worse than the best one over the splits of the data.',
  },
  asha: { label: 'ASHA', help: 'Pauses trials at rungs and continues with the best share of those so far.' },
  halving: { label: 'Successive halving', help: 'As ASHA, but waits for all trials of a rung.' },
  hyperband: { label: 'Hyperband', help: 'Successive halving with different first rungs.' },
};

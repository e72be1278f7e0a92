import { z } from 'zod';

export const modeSchema = z
  .enum(['auto', 'min', 'max'])
  .default('auto')
  .meta({
    help:
      'Whether a smaller or a larger value of the monitored metric is better. `auto`: decided by the metric; ' +
      'unknown metrics need `min` or `max`.',
  });

const warmupSteps = z.int().min(0).default(0).meta({ help: 'Steps of linear warm-up from 0.', unit: 'steps' });
const floorFraction = z.number().min(0).max(1).default(0).meta({ help: 'Final rate as a fraction of the base rate.' });

export const scheduleSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('constant').meta({ help: 'The base learning rate throughout.' }), warmupSteps }),
  z.strictObject({
    kind: z
      .literal('cosine')
      .meta({ help: 'Linear warm-up, then half a cosine down to the floor (Loshchilov and Hutter, 2017).' }),
    warmupSteps,
    floorFraction,
  }),
  z.strictObject({
    kind: z.literal('cosine-restarts').meta({
      help:
        'Half cosines down to the floor, each of which starts at the base rate again ' +
        '(Loshchilov and Hutter, 2017).',
    }),
    warmupSteps,
    cycleSteps: z.int().min(1).default(1000).meta({ help: 'Steps of the first cycle.', unit: 'steps' }),
    cycleFactor: z.number().min(1).default(2).meta({ help: 'Length of a cycle relative to the one before.' }),
    floorFraction,
  }),
  z.strictObject({
    kind: z
      .literal('polynomial')
      .meta({ help: 'A power of the share of steps that are left; with power 1, a line to the floor.' }),
    warmupSteps,
    power: z.number().positive().default(1).meta({ help: 'The power.' }),
    floorFraction,
  }),
  z.strictObject({
    kind: z.literal('step').meta({ help: 'Multiplies the rate by a factor at a fixed interval of epochs.' }),
    warmupSteps,
    everyEpochs: z.int().min(1).default(30).meta({ help: 'Epochs between two decays.', unit: 'epochs' }),
    factor: z.number().positive().max(1).default(0.1).meta({ help: 'Factor of each decay.' }),
  }),
  z.strictObject({
    kind: z
      .literal('plateau')
      .meta({ help: 'Multiplies the rate by a factor once the monitored metric no longer improves.' }),
    warmupSteps,
    monitor: z
      .string()
      .default('auto')
      .meta({
        help:
          'Metric to watch; `{rank}` is replaced by the rank. `auto`: the metric of `checkpoints.monitor` (by ' +
          'default the NLL, or the MSE) of the ensemble.',
      }),
    mode: modeSchema,
    factor: z.number().positive().lt(1).default(0.1).meta({ help: 'Factor of each reduction.' }),
    patience: z.int().min(0).default(10).meta({
      help: 'Evaluations without improvement that the rate waits; the next one reduces it.',
      unit: 'evaluations',
    }),
    minDelta: z.number().min(0).default(0).meta({ help: 'Smallest change that counts as an improvement.' }),
    cooldown: z
      .int()
      .min(0)
      .default(0)
      .meta({ help: 'Evaluations after a reduction that do not count.', unit: 'evaluations' }),
    floorFraction: z.number().min(0).max(1).default(0).meta({ help: 'Smallest rate as a fraction of the base rate.' }),
  }),
  z.strictObject({
    kind: z.literal('one-cycle').meta({
      help:
        'The rate rises to the base rate, then falls far below the first rate; momentum does the opposite (Smith ' +
        'and Topin, 2018).',
    }),
    risingFraction: z.number().gt(0).lt(1).default(0.3).meta({ help: 'Share of the steps in which the rate rises.' }),
    anneal: z.enum(['cosine', 'linear']).default('cosine').meta({ help: 'Shape of the rise and the fall.' }),
    startDivisor: z.number().min(1).default(25).meta({ help: 'The first rate is the base rate divided by this.' }),
    finalDivisor: z.number().min(1).default(10_000).meta({ help: 'The last rate is the first divided by this.' }),
    threePhase: z
      .boolean()
      .default(false)
      .meta({
        help:
          'Fall to the first rate as fast as it rose, then to the last rate; otherwise fall directly to the last ' +
          'rate.',
      }),
    cycleMomentum: z.boolean().default(true).meta({ help: "Lower momentum (Adam's beta1) while the rate rises." }),
    lowMomentum: z.number().min(0).lt(1).default(0.85).meta({ help: 'Momentum at the base rate.' }),
    highMomentum: z.number().min(0).lt(1).default(0.95).meta({ help: 'Momentum at the first and the last rate.' }),
  }),
]);

export const warmStartSchema = z.strictObject({
  checkpoint: z
    .string()
    .default('')
    .meta({
      help:
        'Checkpoint (.safetensors) to start from; `{rank}` is replaced by the rank, else all members start from ' +
        'the same one. A relative path starts at the current folder.',
    }),
  strict: z
    .boolean()
    .default(true)
    .meta({
      help:
        'Refuse a checkpoint whose weights are not exactly those of the model; otherwise weights of the same name ' +
        'and shape are loaded, and the run reports the others.',
    }),
  noise: z.number().min(0).default(0).meta({
    help: 'Noise added to the trained weights, as a fraction of the norm of each tensor (nu).',
  }),
});
export type WarmStartConfig = z.output<typeof warmStartSchema>;

import { z } from 'zod';

/** A separate schema because the value can also be changed while a run trains (`settings.ts`). */
export const learningRateSchema = z
  .number()
  .positive()
  .meta({ help: 'Step size of the optimizer (the base rate of the schedule).' });

const weightDecay = z.number().min(0).default(0);

export const optimizerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sgd').meta({ help: 'Stochastic gradient descent.' }),
    learningRate: learningRateSchema.default(0.01),
    momentum: z.number().min(0).lt(1).default(0).meta({ help: 'Momentum; 0 is plain gradient descent.' }),
    nesterov: z.boolean().default(false).meta({ help: 'Nesterov momentum.' }),
    weightDecay: weightDecay.meta({ help: 'L2 penalty, added to the gradient.' }),
  }),
  z.strictObject({
    kind: z.literal('adam').meta({ help: 'Adam (Kingma and Ba, 2015).' }),
    learningRate: learningRateSchema.default(0.001),
    beta1: z.number().min(0).lt(1).default(0.9).meta({ help: 'Decay of the mean of gradients.' }),
    beta2: z.number().min(0).lt(1).default(0.999).meta({ help: 'Decay of the mean of squared gradients.' }),
    epsilon: z.number().positive().default(1e-8).meta({ help: 'Added to the denominator.' }),
    weightDecay: weightDecay.meta({ help: 'L2 penalty, added to the gradient.' }),
  }),
  z.strictObject({
    kind: z.literal('adamw').meta({ help: 'Adam with decoupled weight decay (Loshchilov and Hutter, 2019).' }),
    learningRate: learningRateSchema.default(0.001),
    beta1: z.number().min(0).lt(1).default(0.9).meta({ help: 'Decay of the mean of gradients.' }),
    beta2: z.number().min(0).lt(1).default(0.999).meta({ help: 'Decay of the mean of squared gradients.' }),
    epsilon: z.number().positive().default(1e-8).meta({ help: 'Added to the denominator.' }),
    weightDecay: z.number().min(0).default(0.01).meta({ help: 'Decoupled decay, times the learning rate.' }),
  }),
]);

export const scheduleSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('constant').meta({ help: 'The base learning rate throughout.' }) }),
  z.strictObject({
    kind: z
      .literal('cosine')
      .meta({ help: 'Linear warm-up, then half a cosine down to the floor (Loshchilov and Hutter, 2017).' }),
    warmupSteps: z.int().min(0).default(0).meta({ help: 'Steps of linear warm-up from 0.', unit: 'steps' }),
    floorFraction: z.number().min(0).max(1).default(0).meta({ help: 'Final rate as a fraction of the base rate.' }),
  }),
  z.strictObject({
    kind: z.literal('step').meta({ help: 'Multiplies the rate by a factor at a fixed interval of epochs.' }),
    everyEpochs: z.int().min(1).default(30).meta({ help: 'Epochs between two decays.', unit: 'epochs' }),
    factor: z.number().positive().max(1).default(0.1).meta({ help: 'Factor of each decay.' }),
  }),
  z.strictObject({
    kind: z.literal('one-cycle').meta({
      help: 'The rate rises to the base rate, then falls far below the first rate; momentum does the opposite (Smith and Topin, 2018).',
    }),
    risingFraction: z.number().gt(0).lt(1).default(0.3).meta({ help: 'Share of the steps in which the rate rises.' }),
    anneal: z.enum(['cosine', 'linear']).default('cosine').meta({ help: 'Shape of the rise and the fall.' }),
    startDivisor: z.number().min(1).default(25).meta({ help: 'The first rate is the base rate divided by this.' }),
    finalDivisor: z.number().min(1).default(10_000).meta({ help: 'The last rate is the first divided by this.' }),
    threePhase: z.boolean().default(false).meta({
      help: 'Fall to the first rate as fast as it rose, then to the last rate; otherwise fall directly to the last rate.',
    }),
    cycleMomentum: z.boolean().default(true).meta({ help: "Lower momentum (Adam's beta1) while the rate rises." }),
    lowMomentum: z.number().min(0).lt(1).default(0.85).meta({ help: 'Momentum at the base rate.' }),
    highMomentum: z.number().min(0).lt(1).default(0.95).meta({ help: 'Momentum at the first and the last rate.' }),
  }),
]);

import { z } from 'zod';

/** A separate schema because the value can also be changed while a run trains (`settings.ts`). */
export const learningRateSchema = z
  .number()
  .positive()
  .meta({ help: 'Step size of the optimizer (the base rate of the schedule).' });

const share = z.number().min(0).lt(1);
const decay = z.number().min(0);
const penalty = decay.default(0).meta({ help: 'L2 penalty: this times the weight is added to the gradient.' });
/** AdamW, Lion: the decay does not pass through the optimizer's direction. */
const decoupledHelp =
  'Decoupled decay: each update takes the learning rate times this from the weight, beside its own step.';
const beta1 = share.default(0.9).meta({ help: 'Decay of the mean of gradients.' });
const beta2 = share.default(0.999).meta({ help: 'Decay of the mean of squared gradients.' });
const epsilon = z.number().positive().default(1e-8).meta({ help: 'Added to the denominator.' });

/** A group of weights, by a pattern of their names. */
const groupSchema = z.strictObject({
  weights: z.string().min(1),
  rateFactor: z.number().min(0).default(1),
  weightDecay: z.number().min(0).optional(),
});
export type WeightGroup = z.output<typeof groupSchema>;

/** Options of every optimizer. */
const common = {
  clipNorm: z.number().min(0).default(0).meta({
    help: 'Maximum norm of the gradient over all weights of the model (and over all ranks that train it); 0: no limit.',
  }),
  clipValue: z.number().min(0).default(0).meta({
    help: 'Limit of the absolute value of each element of the gradient, before the norm is limited; 0: no limit.',
  }),
  statePrecision: z
    .enum(['float32', 'bfloat16'])
    .default('float32')
    .meta({
      help:
        "How the optimizer's state is kept between updates, on wasm and cpu: float32, or rounded stochastically to " +
        'bfloat16 in half the memory (Gupta et al., 2015). An update computes in float32.',
    }),
  groups: z
    .array(groupSchema)
    .default([])
    .meta({
      help:
        'Groups of weights with a factor of the learning rate, and a weight decay if it differs: [{"weights": ' +
        '"^conv", "rateFactor": 0.1}]. The first pattern that matches a name such as dense_1/kernel counts. A ' +
        'factor of 0 freezes the weights.',
    }),
};

export const optimizerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sgd').meta({ help: 'Stochastic gradient descent.' }),
    learningRate: learningRateSchema.default(0.01),
    momentum: share.default(0).meta({ help: 'Momentum; 0 is plain gradient descent.' }),
    nesterov: z.boolean().default(false).meta({ help: 'Nesterov momentum.' }),
    weightDecay: penalty,
    ...common,
  }),
  z.strictObject({
    kind: z.literal('adam').meta({ help: 'Adam (Kingma and Ba, 2015).' }),
    learningRate: learningRateSchema.default(0.001),
    beta1,
    beta2,
    epsilon,
    weightDecay: penalty,
    ...common,
  }),
  z.strictObject({
    kind: z.literal('adamw').meta({ help: 'Adam with decoupled weight decay (Loshchilov and Hutter, 2019).' }),
    learningRate: learningRateSchema.default(0.001),
    beta1,
    beta2,
    epsilon,
    weightDecay: decay.default(0.01).meta({ help: decoupledHelp }),
    ...common,
  }),
  z.strictObject({
    kind: z
      .literal('rmsprop')
      .meta({ help: 'Gradients divided by their root mean square (Tieleman and Hinton, 2012).' }),
    learningRate: learningRateSchema.default(0.001),
    rho: share.default(0.99).meta({ help: 'Decay of the mean of squared gradients.' }),
    momentum: share.default(0).meta({ help: 'Momentum of the scaled gradients.' }),
    centered: z.boolean().default(false).meta({ help: 'Divide by the standard deviation instead (Graves, 2013).' }),
    epsilon,
    weightDecay: penalty,
    ...common,
  }),
  z.strictObject({
    kind: z
      .literal('lion')
      .meta({ help: 'The sign of a mean of gradients, with decoupled weight decay (Chen et al., 2023).' }),
    learningRate: learningRateSchema.default(0.0001),
    beta1: share.default(0.9).meta({ help: 'Share of the mean in the direction of an update.' }),
    beta2: share.default(0.99).meta({ help: 'Decay of the mean of gradients.' }),
    weightDecay: decay.default(0).meta({ help: decoupledHelp }),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('lamb').meta({
      help: "Adam whose updates are as large as each weight tensor's norm, for large batches (You et al., 2020).",
    }),
    learningRate: learningRateSchema.default(0.001),
    beta1,
    beta2,
    epsilon: epsilon.default(1e-6),
    weightDecay: decay.default(0.01).meta({ help: 'Decay, added to the direction before it is scaled.' }),
    ...common,
  }),
]);

/** The options of an optimizer's rule, without those that all optimizers have. */
export type RuleConfig = WithoutCommon<z.output<typeof optimizerSchema>>;
type WithoutCommon<Config> = Config extends unknown ? Omit<Config, keyof typeof common> : never;
export type RuleKind = RuleConfig['kind'];
export type RuleConfigOf<Kind extends RuleKind> = Extract<RuleConfig, { kind: Kind }>;

/** The values that each kind keeps for each weight, by name, in the order in which its rule gets them. */
const slots: { readonly [Kind in RuleKind]: (config: RuleConfigOf<Kind>) => readonly string[] } = {
  sgd: ({ momentum }) => (momentum === 0 ? [] : ['velocity']),
  adam: () => ['mean', 'square'],
  adamw: () => ['mean', 'square'],
  rmsprop: ({ momentum, centered }) => [
    'square',
    ...(momentum === 0 ? [] : ['velocity']),
    ...(centered ? ['mean'] : []),
  ],
  lion: () => ['mean'],
  lamb: () => ['mean', 'square'],
};

/** Names of the values that an optimizer keeps for each weight: its slots, each of the weight's shape. */
export function optimizerSlots(config: RuleConfig): readonly string[] {
  // The entry of a configuration's own kind takes it.
  return (slots[config.kind] as (own: RuleConfig) => readonly string[])(config);
}

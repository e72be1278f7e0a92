import { z } from 'zod';

const positiveInteger = z.int().min(1);

/** Options of strategies whose ranks train one model with averaged gradients. */
const sharedGradients = {
  accumulate: positiveInteger
    .default(1)
    .meta({ help: 'Batches of `batchSize` samples whose gradients a rank accumulates for one step.', unit: 'batches' }),
  compression: z
    .enum(['none', 'bfloat16', '1-bit'])
    .default('none')
    .meta({
      help:
        'Encoding of gradients in transit: float32, rounded to bfloat16 in half the bytes, or one bit each and ' +
        'means of blocks (Seide et al., 2014) in 1/30 of the bytes, of which each rank gets those of all ranks.',
    }),
  errorFeedback: z
    .boolean()
    .default(false)
    .meta({
      help:
        'Add what the encoding of gradients left out to those of the next step (Karimireddy et al., 2019); with ' +
        '1-bit always.',
    }),
};

/** The rate of one model that learns from the samples of all ranks. */
const scaledRate = {
  learningRateScaling: z
    .enum(['none', 'linear'])
    .default('none')
    .meta({
      help:
        'linear: multiply the learning rate by the number of ranks and `accumulate`, as the effective batch is ' +
        '(Goyal et al., 2017).',
    }),
  scalingWarmupSteps: z
    .int()
    .min(0)
    .default(0)
    .meta({ help: 'Steps over which the learning rate grows to the multiplied one; 0: at once.', unit: 'steps' }),
};

export const strategySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('independent').meta({ help: 'Every rank trains its own member. Ranks only exchange predictions.' }),
  }),
  z.strictObject({
    kind: z.literal('joint').meta({
      help:
        'Members train as one model, their product of experts (softmax of the mean logits). Ranks exchange ' +
        'logits (Webb, 2019).',
    }),
    mode: z
      .enum(['reduce', 'gather', 'tree', 'pipelined'])
      .default('reduce')
      .meta({
        help:
          'How logits are exchanged: all-reduce, all-gather, sums in a tree of ranks, or an all-reduce that ' +
          'overlaps with the next forward pass (gradients are then one step stale).',
      }),
  }),
  z.strictObject({
    kind: z.literal('coupled').meta({
      help:
        'Members learn independently from labelled samples, and learn to agree with the ensemble on unlabelled ' +
        'samples. Ranks exchange probabilities.',
    }),
    couplingWeight: z.number().min(0).default(1).meta({
      help: 'Weight of KL(member || ensemble mean) relative to the loss on labels; 0: uncoupled.',
    }),
    unlabelledBatchSize: positiveInteger
      .default(128)
      .meta({ help: 'Unlabelled samples per step, the same for all ranks.', unit: 'samples' }),
  }),
  z.strictObject({
    kind: z
      .literal('data-parallel')
      .meta({ help: 'All ranks train one model, each on its share of the samples of a step.' }),
    ...sharedGradients,
    ...scaledRate,
  }),
  z.strictObject({
    kind: z.literal('sharded').meta({ help: "Data-parallel, with the optimizer's state split over the ranks (ZeRO)." }),
    ...sharedGradients,
    ...scaledRate,
    stage: z
      .int()
      .min(1)
      .max(3)
      .default(1)
      .meta({
        help:
          "What is split over the ranks: 1: the optimizer's state; 2: also gradients, which go to their owners " +
          'during the backward pass; 3: also weights, which each layer gathers for its passes (less memory, more ' +
          'exchanged bytes).',
      }),
    bucketBytes: positiveInteger.default(4 * 2 ** 20).meta({
      help: 'Size of the parts in which stage 2 exchanges gradients; a larger weight is one part.',
      unit: 'bytes',
    }),
    weightPrecision: z
      .enum(['float32', 'bfloat16'])
      .default('float32')
      .meta({
        help:
          'How stage 3 keeps its slices of the weights: float32, or rounded stochastically to bfloat16 after each ' +
          'update, in half the memory and without a float32 copy (Zamirai et al., 2020). Layers compute in ' +
          'float32, and checkpoints are float32.',
      }),
    offload: z
      .enum(['none', 'optimizer'])
      .default('none')
      .meta({
        help:
          "What lies in a file on a disk instead of memory: nothing, or the optimizer's state, of which an update " +
          "reads and writes one weight's part at a time (Rajbhandari et al., 2021). The bits stay the same.",
      }),
  }),
  z.strictObject({
    kind: z.literal('pipeline').meta({
      help:
        'The ranks of a model train a part of its layers each. Parts of a batch pass through them one after the ' +
        'other (Huang et al., 2019).',
    }),
    stages: z
      .int()
      .min(0)
      .default(0)
      .meta({
        help:
          'Ranks that share the layers of one model (S). With M·S ranks (--members) the run is an ensemble of M ' +
          'such models, which differ as independent members do; 0: all ranks share one.',
      }),
    schedule: z
      .enum(['1f1b', 'gpipe'])
      .default('1f1b')
      .meta({
        help:
          'Order of the passes of a rank: one forward and one backward pass in turn, which holds the activations ' +
          'of fewer micro-batches (PipeDream-flush, Narayanan et al., 2021), or all forward passes first (GPipe).',
      }),
    microBatches: positiveInteger.default(8).meta({
      help:
        'Parts of a batch that pass through the ranks one after the other (P). With S ranks they wait (S − 1) / ' +
        '(P + S − 1) of the time.',
      unit: 'micro-batches',
    }),
    balance: z
      .enum(['memory', 'time'])
      .default('memory')
      .meta({
        help:
          'What the ranks get equal shares of: memory of weights, optimizer and activations, or time of forward ' +
          'and backward passes, both measured at the start.',
      }),
    cuts: z
      .array(z.string())
      .default([])
      .meta({ help: 'Layers that begin the parts of ranks 1, 2, …, such as ["dense_4", "dense_8"]; []: as measured.' }),
  }),
  z.strictObject({
    kind: z.literal('hdet').meta({
      help:
        'Data-parallel, but ranks have different learning rates (or other scalars) around a base that follows ' +
        'the better ranks.',
    }),
    ...sharedGradients,
    spread: z.number().min(0).lt(1).default(0.3).meta({
      help: 'Distance of the outermost ranks from the base, as a fraction of it (alpha); 0: data-parallel training.',
    }),
    diverge: z
      .array(z.string())
      .min(1)
      .default(['learningRate'])
      .meta({
        help:
          'Scalars that differ between ranks: learningRate, weightDecay, dropout, labelSmoothing, temperature, or ' +
          "a numeric hyperparameter that the project's loss reads.",
      }),
    averageEverySteps: positiveInteger
      .default(100)
      .meta({ help: 'Steps between two syncs, which average the weights over the ranks (T).', unit: 'steps' }),
    gradientSync: z
      .boolean()
      .default(true)
      .meta({ help: 'Average gradients at every step; otherwise ranks train independently between two syncs.' }),
    adapt: z
      .boolean()
      .default(true)
      .meta({ help: 'Move the bases towards the ranks with smaller losses, at every sync after the warm-up.' }),
    warmupSteps: z
      .int()
      .min(0)
      .default(0)
      .meta({ help: 'Steps before bases adapt; 0: until the peak of the one-cycle schedule.', unit: 'steps' }),
    lossScale: z
      .number()
      .positive()
      .default(0.1)
      .meta({ help: 'Difference of losses that gives a rank e times the weight of another (sigma).' }),
    adaptation: z.number().min(0).default(0.5).meta({ help: 'Share of its velocity that a base moves by (lambda).' }),
    inertia: z.number().min(0).lt(1).default(0.9).meta({ help: 'Share of a velocity that is kept at a sync (beta).' }),
    decay: z.number().min(0).lt(1).nullable().default(null).meta({
      help: "Share that learning rates lose at a sync (gamma); null: the share that leads to one-cycle's last rate.",
    }),
    groups: z
      .array(z.strictObject({ name: z.string().regex(/^[a-z][a-z0-9]*$/), weights: z.string() }))
      .default([])
      .meta({
        help:
          'Groups of weights with separate rates and decay: [{"name": "head", "weights": ' +
          '"<pattern of dense_1/kernel>"}].',
      }),
  }),
]);

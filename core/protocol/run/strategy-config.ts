import { z } from 'zod';

const positiveInteger = z.int().min(1);

/** Of strategies whose ranks train one model with the gradients of all. */
const sharedGradients = {
  accumulate: positiveInteger
    .default(1)
    .meta({ help: 'Batches of `batchSize` samples whose gradients a rank adds up for one step.', unit: 'batches' }),
  clipNorm: z
    .number()
    .min(0)
    .default(0)
    .meta({ help: 'Largest norm of the gradient over all weights and ranks; 0: any.' }),
  compression: z
    .enum(['none', 'bfloat16'])
    .default('none')
    .meta({ help: 'How gradients travel: as float32, or rounded to bfloat16 at half the bytes.' }),
};

export const strategySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z
      .literal('independent')
      .meta({ help: 'Every rank trains its own member; nothing but predictions is exchanged.' }),
  }),
  z.strictObject({
    kind: z.literal('joint').meta({
      help: 'Members learn as one model, their product of experts (softmax of the mean logits); logits are exchanged (Webb, 2019).',
    }),
    mode: z
      .enum(['reduce', 'gather', 'tree', 'pipelined'])
      .default('reduce')
      .meta({
        help:
          'How logits travel: summed on the way, everyone to everyone, summed in pairs of ranks and pairs of pairs, or summed on the way ' +
          'while the next batch goes forward (gradients are then one step stale).',
      }),
  }),
  z.strictObject({
    kind: z.literal('coupled').meta({
      help: 'Members learn from labels by themselves, and from unlabelled samples by agreeing with the ensemble; probabilities are exchanged.',
    }),
    couplingWeight: z.number().min(0).default(1).meta({
      help: 'Weight of KL(member || ensemble mean) beside the loss on labels; 0: uncoupled.',
    }),
    unlabelledBatchSize: positiveInteger
      .default(128)
      .meta({ help: 'Unlabelled samples a step, the same for all ranks.', unit: 'samples' }),
    cropPadding: z.int().min(0).default(0).meta({
      help: 'Images are padded by so many pixels and cropped at random, on each rank in its own way.',
      unit: 'px',
    }),
    horizontalFlip: z
      .boolean()
      .default(false)
      .meta({ help: 'Images are mirrored at random, on each rank in its own way.' }),
  }),
  z.strictObject({
    kind: z
      .literal('data-parallel')
      .meta({ help: 'All ranks train one model, each with its share of the samples of a step.' }),
    ...sharedGradients,
  }),
  z.strictObject({
    kind: z
      .literal('sharded')
      .meta({ help: "Data-parallel, with the optimizer's state split over the ranks (ZeRO, stage 1)." }),
    ...sharedGradients,
  }),
  z.strictObject({
    kind: z.literal('hdet').meta({
      help: 'Data-parallel, but ranks hold different learning rates (or other scalars) around a base that follows those that do well.',
    }),
    ...sharedGradients,
    spread: z.number().min(0).lt(1).default(0.3).meta({
      help: 'How far the outermost ranks are from the base, as a fraction of it (alpha); 0: data-parallel training.',
    }),
    diverge: z
      .array(z.string())
      .min(1)
      .default(['learningRate'])
      .meta({
        help:
          'What ranks hold different values of: learningRate, weightDecay, dropout, labelSmoothing, temperature, or a number among the ' +
          "project's hyperparameters that its loss reads.",
      }),
    averageEverySteps: positiveInteger
      .default(100)
      .meta({ help: 'Steps between two syncs, where weights are averaged over the ranks (T).', unit: 'steps' }),
    gradientSync: z
      .boolean()
      .default(true)
      .meta({ help: 'Average gradients at every step; otherwise ranks train alone between two syncs.' }),
    adapt: z
      .boolean()
      .default(true)
      .meta({ help: 'Move the bases towards the ranks with the smaller losses, at every sync after the warm-up.' }),
    warmupSteps: z
      .int()
      .min(0)
      .default(0)
      .meta({ help: 'Steps before bases adapt; 0: until the one-cycle schedule peaks.', unit: 'steps' }),
    lossScale: z
      .number()
      .positive()
      .default(0.1)
      .meta({ help: 'Difference of losses that makes a rank count e times as much as another (sigma).' }),
    adaptation: z.number().min(0).default(0.5).meta({ help: 'Share of its velocity that a base takes (lambda).' }),
    inertia: z.number().min(0).lt(1).default(0.9).meta({ help: 'Share of a velocity that stays at a sync (beta).' }),
    decay: z
      .number()
      .min(0)
      .lt(1)
      .nullable()
      .default(null)
      .meta({ help: "Share that learning rates lose at a sync (gamma); null: what leads to one-cycle's last rate." }),
    groups: z
      .array(z.strictObject({ name: z.string().regex(/^[a-z][a-z0-9]*$/), weights: z.string() }))
      .default([])
      .meta({
        help: 'Weights whose rates and decay diverge on their own: [{"name": "head", "weights": "<pattern of dense_1/kernel>"}].',
      }),
    warmStart: z
      .string()
      .default('')
      .meta({ help: 'Checkpoint (.safetensors) to begin from; a relative path is one from where the run is started.' }),
    noise: z
      .number()
      .min(0)
      .default(0)
      .meta({ help: 'Noise on the weights of a warm start, as a fraction of each tensor (nu).' }),
  }),
]);

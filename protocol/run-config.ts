import { z } from 'zod';
import { deviceSelectionSchema } from './devices.ts';

/**
 * The run configuration: everything that decides how an ensemble is trained, as data. The terminal's flags, the
 * dashboard's form, validation messages and `docs/options.md` all come from this schema, so every leaf carries its
 * help text, and its unit where it has one.
 */

const positiveInteger = z.int().min(1);
/** Options that may also be changed while a run trains (`run-settings.ts`), hence leaves with a name. */
export const learningRateSchema = z
  .number()
  .positive()
  .meta({ help: 'Step size of the optimizer (the base rate of the schedule).' });
export const patienceSchema = positiveInteger.meta({
  help: 'Evaluations without improvement before the stop.',
  unit: 'evaluations',
});
const weightDecay = z.number().min(0).default(0);

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
    kind: z.literal('step').meta({ help: 'Multiplies the rate by a factor every so many epochs.' }),
    everyEpochs: positiveInteger.default(30).meta({ help: 'Epochs between two decays.', unit: 'epochs' }),
    factor: z.number().positive().max(1).default(0.1).meta({ help: 'What the rate is multiplied by.' }),
  }),
  z.strictObject({
    kind: z.literal('one-cycle').meta({
      help: 'Up to the base rate, then down far below the first one, momentum the other way (Smith and Topin, 2018).',
    }),
    risingFraction: z.number().gt(0).lt(1).default(0.3).meta({ help: 'Share of the steps in which the rate rises.' }),
    anneal: z
      .enum(['cosine', 'linear'])
      .default('cosine')
      .meta({ help: 'How the rate goes from one end to the other.' }),
    startDivisor: z.number().min(1).default(25).meta({ help: 'The first rate is the base rate divided by this.' }),
    finalDivisor: z.number().min(1).default(10_000).meta({ help: 'The last rate is the first divided by this.' }),
    threePhase: z
      .boolean()
      .default(false)
      .meta({ help: 'Fall to the first rate as fast as it rose, then to the last; otherwise fall in one go.' }),
    cycleMomentum: z.boolean().default(true).meta({ help: "Let momentum (Adam's beta1) fall while the rate rises." }),
    lowMomentum: z.number().min(0).lt(1).default(0.85).meta({ help: 'Momentum at the base rate.' }),
    highMomentum: z.number().min(0).lt(1).default(0.95).meta({ help: 'Momentum at the first and the last rate.' }),
  }),
]);

export const lossSchema = z.strictObject({
  labelSmoothing: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({ help: 'Share of each label that is spread over all classes (Szegedy et al., 2016).' }),
  temperature: z.number().positive().default(1).meta({ help: 'What logits are divided by in the loss.' }),
});

export const dataSchema = z.strictObject({
  mode: z
    .enum(['local', 'broadcast', 'shared'])
    .default('local')
    .meta({
      help:
        'Where ranks have their training samples from: a copy of their own, every batch from the first rank, or one copy in memory for all ' +
        'ranks of the machine.',
    }),
});

export const earlyStoppingSchema = z.strictObject({
  enabled: z.boolean().default(false).meta({ help: 'Stop when the monitored metric no longer improves.' }),
  monitor: z.string().default('auto').meta({
    help: "Metric to watch; `{rank}` becomes the rank. `auto`: the ensemble's NLL when joint, else the member's own.",
  }),
  mode: z.enum(['min', 'max']).default('min').meta({ help: 'Whether smaller or larger is better.' }),
  patience: patienceSchema.default(20),
  minDelta: z.number().min(0).default(0).meta({ help: 'Smallest change that counts as an improvement.' }),
  joint: z.boolean().default(true).meta({ help: 'All ranks stop together; otherwise each rank stops by itself.' }),
});

export const checkpointsSchema = z.strictObject({
  ensembleBest: z
    .boolean()
    .default(true)
    .meta({ help: "Keep every member as it was at the ensemble's best evaluation." }),
  memberBest: z.boolean().default(true).meta({ help: 'Keep every member at its own best evaluation.' }),
  final: z.boolean().default(true).meta({ help: 'Keep every member as it was at the end.' }),
  everyEpochs: z
    .int()
    .min(0)
    .default(0)
    .meta({ help: 'Also keep one every so many epochs; 0: never.', unit: 'epochs' }),
  stateEverySeconds: z
    .number()
    .min(0)
    .default(30)
    .meta({ help: 'How often, at most, the state for an exact resume is saved; 0: at every evaluation.', unit: 's' }),
});

export const timeoutsSchema = z.strictObject({
  connectMs: positiveInteger.default(30_000).meta({ help: "From spawn to a worker's first word.", unit: 'ms' }),
  prepareMs: positiveInteger
    .default(1_800_000)
    .meta({ help: 'Loading project, data and model (a download may be under way).', unit: 'ms' }),
  firstCollectiveMs: positiveInteger
    .default(600_000)
    .meta({ help: 'A collective before the first step has passed.', unit: 'ms' }),
  collectiveMs: positiveInteger
    .default(120_000)
    .meta({ help: 'A collective later on: how long ranks wait for the slowest.', unit: 'ms' }),
  silenceMs: positiveInteger
    .default(300_000)
    .meta({ help: 'A training worker that says nothing for so long has hung.', unit: 'ms' }),
  exitMs: positiveInteger
    .default(10_000)
    .meta({ help: 'From asking a worker to leave until it is killed.', unit: 'ms' }),
});

export const runConfigSchema = z.strictObject({
  members: positiveInteger
    .max(256)
    .default(2)
    .meta({ help: 'Ensemble members (M), one rank each; or the ranks of one model, where the strategy trains one.' }),
  devices: deviceSelectionSchema.default('auto').meta({
    help: 'Devices to train on: `auto`, `all` or -1, a count, a list such as 0,2, `idle`, `cpu`, `gpu`, `cpu:0,1`, `webgpu:0`.',
  }),
  placement: z.enum(['share', 'waves']).default('share').meta({
    help: 'With more members than devices: several ranks share a device, or run in waves one after the other.',
  }),
  membersPerDevice: positiveInteger.max(256).default(1).meta({
    help: 'Members that one worker trains as one computation: on one device that is faster than several workers, for small networks.',
    unit: 'members',
  }),
  backend: z
    .enum(['auto', 'wasm', 'tensorflow', 'webgpu', 'cpu'])
    .default('auto')
    .meta({
      help:
        'Where tensors live: `tensorflow` (also for NVIDIA GPUs) needs `npm run setup:native`, `webgpu` (GPUs of all makers) ' +
        '`npm run setup:native -- --webgpu`; `cpu` is the slow reference.',
    }),
  blas: z.enum(['auto', 'on', 'off']).default('auto').meta({
    help: "The system's BLAS for matrix products on wasm: `auto` takes it where it was measured to be clearly faster than own kernels.",
  }),
  determinism: z.enum(['relaxed', 'deterministic']).default('relaxed').meta({
    help: "How sums of products round on wasm: `relaxed` as the processor's fused multiply-add does, which is faster, or alike on all machines.",
  }),
  seed: z.int().min(0).max(0xffffffff).default(42).meta({ help: 'Base seed: rank r trains with seed + r.' }),
  identicalSeeds: z
    .boolean()
    .default(false)
    .meta({ help: 'Give every rank the base seed itself (ablations, debugging).' }),
  strategy: strategySchema.prefault({ kind: 'independent' }).meta({ help: 'How the members relate while they train.' }),
  optimizer: optimizerSchema.prefault({ kind: 'adam' }).meta({ help: 'The optimizer.' }),
  schedule: scheduleSchema.prefault({ kind: 'constant' }).meta({ help: 'Learning rate over time.' }),
  loss: lossSchema.prefault({}).meta({ help: "The classification task's own loss." }),
  batchSize: positiveInteger.default(128).meta({ help: 'Samples a step and rank (B).', unit: 'samples' }),
  sampler: z
    .enum(['auto', 'shuffled', 'shared', 'sharded', 'sharded-drop', 'sharded-uneven', 'sequential'])
    .default('auto')
    .meta({
      help:
        'Order of samples: what the strategy needs (`auto`), own per rank, one for all, split over ranks (padded, dropping the tail, or ' +
        'with uneven last batches), as stored.',
    }),
  data: dataSchema.prefault({}).meta({ help: 'How samples reach the ranks.' }),
  dropLast: z.boolean().default(false).meta({ help: "Leave out an epoch's last, smaller batch." }),
  maxEpochs: positiveInteger.default(10).meta({ help: 'Epochs at most.', unit: 'epochs' }),
  maxSteps: z.int().min(0).default(0).meta({ help: 'Steps at most; 0: as many as the epochs hold.', unit: 'steps' }),
  evaluateEveryEpochs: positiveInteger
    .default(1)
    .meta({ help: 'Epochs between two evaluations (ranks meet there).', unit: 'epochs' }),
  logEverySteps: positiveInteger.default(50).meta({ help: 'Steps between two training-loss points.', unit: 'steps' }),
  onNonFinite: z
    .enum(['stop', 'skip'])
    .default('stop')
    .meta({ help: 'A loss that is NaN or infinite: stop all ranks, or skip that update.' }),
  earlyStopping: earlyStoppingSchema.prefault({}).meta({ help: 'When to stop before the last epoch.' }),
  checkpoints: checkpointsSchema.prefault({}).meta({ help: 'What to keep on disk.' }),
  keepPredictions: z
    .enum(['none', 'best', 'all'])
    .default('best')
    .meta({ help: 'Validation predictions to keep: none, those of the best evaluation, or all evaluations.' }),
  restarts: z.int().min(0).default(0).meta({
    help: 'Times that ranks whose group lost a process, by its death or by hanging, go on from the last state that all of them saved.',
  }),
  timeouts: timeoutsSchema.prefault({}).meta({ help: 'How long to wait for what.' }),
  hyperparameters: z.record(z.string(), z.unknown()).default({}).meta({ help: "The project's own hyperparameters." }),
});

export type RunConfig = z.output<typeof runConfigSchema>;
export type RunConfigInput = z.input<typeof runConfigSchema>;
export type StrategyConfig = RunConfig['strategy'];
export type OptimizerConfig = RunConfig['optimizer'];
export type ScheduleConfig = RunConfig['schedule'];
export type EarlyStoppingConfig = RunConfig['earlyStopping'];

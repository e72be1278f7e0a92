import { z } from 'zod';
import { deviceSelectionSchema } from '../machine/devices.ts';
import { optimizerSchema, scheduleSchema } from './optimizer-config.ts';
import { strategySchema } from './strategy-config.ts';

/**
 * The run configuration: everything that decides how an ensemble is trained, as data. The terminal's flags, the
 * dashboard's form, validation messages and `docs/options.md` all come from this schema, so every leaf carries its
 * help text, and its unit where it has one.
 */

const positiveInteger = z.int().min(1);

/** May also be changed while a run trains (`run-settings.ts`), hence a leaf with a name. */
export const patienceSchema = positiveInteger.meta({
  help: 'Evaluations without improvement before the stop.',
  unit: 'evaluations',
});

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

const modeSchema = z.enum(['auto', 'min', 'max']).default('auto').meta({
  help: 'Whether a smaller or a larger value of the monitored metric is better. `auto`: what is known of the metric; an unknown one needs this set.',
});

export const earlyStoppingSchema = z.strictObject({
  enabled: z.boolean().default(false).meta({ help: 'Stop when the monitored metric no longer improves.' }),
  monitor: z
    .string()
    .default('auto')
    .meta({
      help:
        'Metric to watch; `{rank}` becomes the rank. `auto`: what `checkpoints.monitor` says (by default the NLL, or the MSE), of the ensemble ' +
        "when joint, else the member's own.",
    }),
  mode: modeSchema,
  patience: patienceSchema.default(20),
  minDelta: z.number().min(0).default(0).meta({ help: 'Smallest change that counts as an improvement.' }),
  joint: z.boolean().default(true).meta({ help: 'All ranks stop together; otherwise each rank stops by itself.' }),
});

export const checkpointsSchema = z.strictObject({
  ensembleBest: z
    .boolean()
    .default(true)
    .meta({ help: "Keep every member as it was at the ensemble's best evaluation." }),
  monitor: z
    .string()
    .default('auto')
    .meta({
      help:
        "Metric of the ensemble that tells the best evaluation, for checkpoints and predictions; members' own best is told by the same metric " +
        'of theirs. `auto`: the NLL, or the MSE where no variance is predicted.',
    }),
  mode: modeSchema,
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
  initializers: z
    .enum(['corrected', 'tfjs'])
    .default('corrected')
    .meta({
      help:
        'Variance of initial weights that are drawn from cut-off normal distributions (`glorotNormal`, `heNormal`, `leCunNormal`, ' +
        "`varianceScaling`): that of their formulas, or TensorFlow.js's, which is 0.774 of it.",
    }),
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

import { z } from 'zod';
import { deviceSelectionSchema } from '../machine/devices.ts';
import { augmentationSchema, dataSchema } from './data-config.ts';
import { memberLossSchema } from './member-loss-config.ts';
import { optimizerSchema } from './optimizer-config.ts';
import { modeSchema, scheduleSchema, warmStartSchema } from './schedule-config.ts';
import { strategySchema } from './strategies/strategy-config.ts';

/**
 * The run configuration: everything that decides how an ensemble is trained. The terminal's flags, the dashboard's
 * form, validation messages and `docs/options.md` come from this schema, so every leaf has a help text, and a unit
 * if its value has one.
 */

const positiveInteger = z.int().min(1);

/** A separate schema because the value can also be changed while a run trains (`settings.ts`). */
export const patienceSchema = positiveInteger.meta({
  help: 'Evaluations without improvement before training stops.',
  unit: 'evaluations',
});

export const lossSchema = z.strictObject({
  labelSmoothing: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({ help: 'Share of each label that is distributed over all classes (Szegedy et al., 2016).' }),
  temperature: z.number().positive().default(1).meta({ help: 'Divisor of the logits in the loss.' }),
});

export const emaSchema = z.strictObject({
  decay: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({
      help:
        'Share of the average that an update keeps, such as 0.999. The averaged weights are evaluated and saved as ' +
        'checkpoints; training continues with the others. 0: no average.',
    }),
});

export const metricsSchema = z.strictObject({
  more: z
    .string()
    .default('')
    .meta({
      help:
        'Metrics to compute beside the standard ones of the task, separated by commas: `auroc,f1`. docs/metrics.md ' +
        'lists them.',
    }),
  nllEpsilon: z
    .number()
    .min(0)
    .lt(1)
    .default(0)
    .meta({
      help:
        'Added to each probability of a class or a label before the logarithm of the NLL; 0: the exact NLL. The ' +
        'published example of torch-distributed-ensemble adds 1e-8.',
    }),
});

export const earlyStoppingSchema = z.strictObject({
  enabled: z.boolean().default(false).meta({ help: 'Stop once the monitored metric no longer improves.' }),
  monitor: z
    .string()
    .default('auto')
    .meta({
      help:
        'Metric to watch; `{rank}` is replaced by the rank. `auto`: the metric of `checkpoints.monitor` (by ' +
        'default the NLL, or the MSE), of the ensemble if joint, else of the member.',
    }),
  mode: modeSchema,
  patience: patienceSchema.default(20),
  minDelta: z.number().min(0).default(0).meta({ help: 'Smallest change that counts as an improvement.' }),
  joint: z.boolean().default(true).meta({ help: 'All ranks stop together; otherwise each rank stops independently.' }),
});

export const checkpointsSchema = z.strictObject({
  ensembleBest: z
    .boolean()
    .default(true)
    .meta({ help: "Keep every member's weights from the ensemble's best evaluation." }),
  monitor: z
    .string()
    .default('auto')
    .meta({
      help:
        'Metric of the ensemble that decides which evaluation is best, for checkpoints and predictions. The same ' +
        "metric of each member decides the member's best. `auto`: the NLL, or the MSE if no variance is predicted.",
    }),
  mode: modeSchema,
  memberBest: z.boolean().default(true).meta({ help: "Keep every member's weights from its own best evaluation." }),
  final: z.boolean().default(true).meta({ help: "Keep every member's weights from the end of training." }),
  everyEpochs: z
    .int()
    .min(0)
    .default(0)
    .meta({ help: 'Also keep a checkpoint at this interval; 0: never.', unit: 'epochs' }),
  keepLast: z.int().min(0).default(0).meta({
    help: 'Of the checkpoints of `checkpoints.everyEpochs`, keep only the newest ones; 0: all.',
    unit: 'checkpoints',
  }),
  keepTop: z
    .int()
    .min(0)
    .default(0)
    .meta({
      help:
        "Also keep every member's weights from the ensemble's best evaluations, this many; 0: only the best one " +
        '(`checkpoints.ensembleBest`).',
      unit: 'checkpoints',
    }),
  quotaMiB: z
    .int()
    .min(0)
    .default(0)
    .meta({
      help:
        'Most disk space for all checkpoints of the run, shared equally by its members. Beyond it the oldest of ' +
        '`checkpoints.everyEpochs` are removed, then the worst of `checkpoints.keepTop`; the named ones stay. A ' +
        'new checkpoint is written before others are removed. 0: no limit.',
      unit: 'MiB',
    }),
  stateEverySeconds: z.number().min(0).default(30).meta({
    help: 'Minimum time between two saves of the state for an exact resume; 0: save at every evaluation.',
    unit: 's',
  }),
});

export const timeoutsSchema = z.strictObject({
  connectMs: positiveInteger.default(30_000).meta({
    help:
      'From the start of a worker to its first message. On Linux, time in which it waits for a processor does ' +
      'not count.',
    unit: 'ms',
  }),
  prepareMs: positiveInteger.default(1_800_000).meta({
    help:
      'Loading project, data and model, including a download. On Linux, time in which it waits for a processor ' +
      'does not count.',
    unit: 'ms',
  }),
  firstCollectiveMs: positiveInteger
    .default(600_000)
    .meta({ help: 'A collective before the first step is complete.', unit: 'ms' }),
  collectiveMs: positiveInteger
    .default(120_000)
    .meta({ help: 'A later collective: how long ranks wait for the slowest rank.', unit: 'ms' }),
  silenceMs: positiveInteger
    .default(300_000)
    .meta({ help: 'A training worker without any message for this long counts as hung.', unit: 'ms' }),
  heartbeatMs: positiveInteger.default(30_000).meta({
    help: 'On several nodes: a node from which nothing comes for this long counts as lost.',
    unit: 'ms',
  }),
  exitMs: positiveInteger
    .default(10_000)
    .meta({ help: 'From asking a worker to exit until it is killed.', unit: 'ms' }),
});

export const runConfigSchema = z.strictObject({
  // A count of ranks: `ranks-and-members.ts` derives that of the members.
  members: positiveInteger
    .max(256)
    .default(2)
    .meta({
      help: 'Ensemble members (M), one rank each; with a strategy that trains one model, the ranks of that model.',
    })
    .brand<'ranks'>(),
  devices: deviceSelectionSchema.default('auto').meta({
    help:
      'Devices to train on: `auto`, `all` or -1, a count, a list such as 0,2, `idle`, `cpu`, `gpu`, `cpu:0,1`, ' +
      '`webgpu:0`.',
  }),
  placement: z.enum(['share', 'waves']).default('share').meta({
    help: 'With more members than devices: several ranks share a device, or ranks run in waves, one after the other.',
  }),
  membersPerDevice: z
    .union([z.literal('auto'), positiveInteger.max(256)])
    .default('auto')
    .meta({
      help:
        'Members that one worker trains as one computation, which is faster for small networks. `auto`: those of a ' +
        'device where a measurement before the first run finds that faster, else 1; the results have the same bits.',
      unit: 'members',
    }),
  threads: z
    .union([z.literal('auto'), positiveInteger.max(128)])
    .default('auto')
    .meta({
      help:
        'Threads of each worker on wasm, which share large products, convolutions and updates. `auto`: the selected ' +
        'cores that no other worker has, at most 8. The number changes no bit of the results. A BLAS computes in one.',
      unit: 'threads',
    }),
  backend: z
    .enum(['auto', 'wasm', 'tensorflow', 'webgpu', 'cpu'])
    .default('auto')
    .meta({
      help:
        'TensorFlow.js backend: `tensorflow` (also for NVIDIA GPUs) needs `tutti setup`, `webgpu` (GPUs of all ' +
        'vendors) needs `tutti setup --webgpu`; `cpu` is the slow reference.',
    }),
  blas: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .meta({
      help:
        "The system's BLAS for matrix products on wasm. `auto` uses it if it was measured to be clearly faster " +
        "than Tutti's kernels.",
    }),
  determinism: z
    .enum(['relaxed', 'deterministic'])
    .default('relaxed')
    .meta({
      help:
        "Rounding of sums of products on wasm: `relaxed` uses the processor's fused multiply-add, which is faster; " +
        '`deterministic` is the same on all machines.',
    }),
  seed: z.int().min(0).max(0xffffffff).default(42).meta({ help: 'Base seed: rank r trains with seed + r.' }),
  identicalSeeds: z
    .boolean()
    .default(false)
    .meta({ help: 'Give every rank the same base seed (for ablations and debugging).' }),
  initializers: z
    .enum(['corrected', 'tfjs'])
    .default('corrected')
    .meta({
      help:
        'Variance of initial weights drawn from truncated normal distributions (`glorotNormal`, `heNormal`, ' +
        "`leCunNormal`, `varianceScaling`): the variance of their formulas, or TensorFlow.js's, which is 0.774 " +
        'times that.',
    }),
  strategy: strategySchema
    .prefault({ kind: 'independent' })
    .meta({ help: 'How the members interact while they train.' }),
  optimizer: optimizerSchema.prefault({ kind: 'adam' }).meta({ help: 'The optimizer.' }),
  schedule: scheduleSchema.prefault({ kind: 'constant' }).meta({ help: 'The learning rate over time.' }),
  ema: emaSchema.prefault({}).meta({ help: 'The exponential moving average of the weights.' }),
  warmStart: warmStartSchema.prefault({}).meta({ help: 'The weights that training starts from.' }),
  loss: lossSchema
    .prefault({})
    .meta({ help: 'Options of the losses of tasks with classes (classification, binary, multi-label, ordinal).' }),
  batchSize: positiveInteger.default(128).meta({ help: 'Samples per step and rank (B).', unit: 'samples' }),
  activationCheckpointing: z
    .enum(['none', 'layers', 'sqrt'])
    .default('none')
    .meta({
      help:
        'Activations that a step keeps for its backward pass: all; the inputs of layers (or of blocks with ' +
        'connections that skip layers); or those of about √n segments of n layers. The others are computed again, ' +
        'which saves memory, costs up to one more forward pass and gives the same bits (Chen et al., 2016).',
    }),
  sampler: z
    .enum(['auto', 'shuffled', 'shared', 'sharded', 'sharded-drop', 'sharded-uneven', 'sequential'])
    .default('auto')
    .meta({
      help:
        'Order of samples: as the strategy needs (`auto`), shuffled separately for each rank, shuffled once for ' +
        'all, split over the ranks (padded, without the tail, or with uneven last batches), or as stored.',
    }),
  data: dataSchema.prefault({}).meta({ help: 'How samples reach the ranks.' }),
  collectives: z
    .enum(['auto', 'hub', 'mpi'])
    .default('auto')
    .meta({
      help:
        'How ranks exchange arrays: by MPI (`mpi`), for which a launcher of MPI must have started the process of ' +
        'each rank, or through the memory of one machine or the hub (`hub`). `auto`: by MPI where such a launcher ' +
        'has started one rank on each of several nodes, all ranks need each other at every step, the project may ' +
        'use the network, and all nodes have its library; else as `hub`.',
    }),
  augmentation: augmentationSchema
    .prefault({})
    .meta({ help: 'Random changes of the training images, different on each rank.' }),
  dropLast: z.boolean().default(false).meta({ help: "Skip an epoch's last batch if it is smaller." }),
  maxEpochs: positiveInteger.default(10).meta({ help: 'Maximum number of epochs.', unit: 'epochs' }),
  maxSteps: z
    .int()
    .min(0)
    .default(0)
    .meta({ help: 'Maximum number of steps; 0: no limit beside the epochs.', unit: 'steps' }),
  scheduleEpochs: z
    .int()
    .min(0)
    .default(0)
    .meta({
      help:
        "Epochs over which the schedule is spread, and the progress that a project's loss sees; later ones have " +
        'the last rate. 0: `maxEpochs`. More than those, for a run that goes on later.',
      unit: 'epochs',
    }),
  evaluateEveryEpochs: positiveInteger
    .default(1)
    .meta({ help: 'Epochs between two evaluations, where ranks synchronize.', unit: 'epochs' }),
  logEverySteps: positiveInteger
    .default(50)
    .meta({ help: 'Steps between two points of the training loss.', unit: 'steps' }),
  onNonFinite: z
    .enum(['stop', 'skip'])
    .default('stop')
    .meta({ help: 'On a NaN or infinite loss: stop all ranks, or skip that update.' }),
  metrics: metricsSchema.prefault({}).meta({ help: 'What evaluations compute.' }),
  earlyStopping: earlyStoppingSchema.prefault({}).meta({ help: 'When to stop before the last epoch.' }),
  checkpoints: checkpointsSchema.prefault({}).meta({ help: 'Checkpoints to keep on disk.' }),
  keepPredictions: z
    .enum(['none', 'best', 'all'])
    .default('best')
    .meta({ help: 'Validation predictions to keep: none, those of the best evaluation, or those of all evaluations.' }),
  onMemberLoss: memberLossSchema
    .prefault({ kind: 'restart' })
    .meta({ help: 'What happens when a process of a rank dies, hangs or fails.' }),
  timeouts: timeoutsSchema.prefault({}).meta({ help: 'Timeouts.' }),
  memoryLimitBytes: z.int().min(0).default(0).meta({
    help: 'Memory that each worker may allocate, on Linux; 0: the memory of the machine, and on GPUs no limit.',
    unit: 'bytes',
  }),
  hyperparameters: z.record(z.string(), z.unknown()).default({}).meta({ help: "The project's own hyperparameters." }),
});

export type RunConfig = z.output<typeof runConfigSchema>;
export type RunConfigInput = z.input<typeof runConfigSchema>;
export type StrategyConfig = RunConfig['strategy'];
export type OptimizerConfig = RunConfig['optimizer'];
export type ScheduleConfig = RunConfig['schedule'];
export type EarlyStoppingConfig = RunConfig['earlyStopping'];

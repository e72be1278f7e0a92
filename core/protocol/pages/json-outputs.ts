import { z } from 'zod';
import { deviceSchema } from '../machine/devices.ts';
import { fileProfileSchema } from '../run/inspect-task.ts';
import { workerStateSchema } from '../run/messages.ts';
import { partCriteria, partMethods, partSourceSchema } from '../run/parts.ts';
import {
  attemptSchema,
  checkpointRecordSchema,
  evaluatedSetSchema,
  runEventSchema,
  runRecordSchema,
  runStatusSchema,
} from '../run/record.ts';
import { choiceSchema } from '../../discovery/search.ts';
import { postprocessingSchema } from '../../postprocessing/schema.ts';
import { estimateSchema } from '../run/sweep/sweep-scores.ts';
import { realNumber } from '../wire/numbers.ts';
import { studySchema } from '../studies/study.ts';
import { sweepSummarySchema } from './sweep-summary.ts';
import { studyImportanceSchema, studySummarySchema, studyTrialSchema } from './study-views.ts';
import { runRowSchema } from './run-list.ts';

/**
 * What commands print with `--json`. `docs/json.md` is generated from these schemas, and tests check the outputs
 * against them.
 */

const position = { epoch: z.int().describe('zero-based'), step: z.int().describe('steps done') };

const device = z.string().describe('such as `cuda:0`');

/** A line of `tutti train`, `resume`, `fork` and `attach`. */
export const runLineSchema = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('record'), record: runRecordSchema, folder: z.string() })
    .describe('The run, at its start and after each change of its record.'),
  z
    .strictObject({
      type: z.literal('described'),
      about: z.strictObject({
        task: z.string(),
        backend: z.string(),
        parameterCount: z.int().describe("of one member's model"),
        largestProduct: z.int().optional().describe('multiplications of the largest matrix product of a step'),
        totalSteps: z.int().describe('most steps of a rank'),
        ensembleMonitor: z.string().describe('the monitored metric'),
        samples: z.strictObject({ train: z.int(), validation: z.int(), test: z.int() }),
      }),
    })
    .describe('What is known once the first rank has built its model.'),
  z
    .strictObject({
      type: z.literal('worker'),
      rank: z.int(),
      state: z.enum([...workerStateSchema.options, 'exited']),
      ...position,
      pid: z.int().nullable(),
    })
    .describe('A rank changes its state.'),
  z
    .strictObject({
      type: z.literal('progress'),
      rank: z.int(),
      ...position,
      totalSteps: z.int(),
      samplesPerSecond: z.number(),
      memoryBytes: z.number(),
    })
    .describe('The progress of a rank, about once a second.'),
  z
    .strictObject({
      type: z.literal('point'),
      rank: z.int(),
      name: z.string().describe('such as `val/ens_nll`'),
      ...position,
      value: realNumber,
      time: z.string().nullable().describe('ISO 8601; null for points that were read from files'),
    })
    .describe('A value of a metric.'),
  z
    .strictObject({
      type: z.literal('device-loads'),
      time: z.string(),
      loads: z.array(
        z.strictObject({
          device,
          load: z.number().nullable().describe('share of time, 0 to 1'),
          memoryUsedBytes: z.number().nullable(),
        }),
      ),
    })
    .describe("The loads of the run's devices."),
  z.strictObject({ type: z.literal('event'), event: runEventSchema }).describe('An event, as in `events.jsonl`.'),
  z.strictObject({ type: z.literal('warning'), message: z.string() }).describe('A damaged part of a file was skipped.'),
  z
    .strictObject({ type: z.literal('checkpoint'), record: checkpointRecordSchema })
    .describe('A rank has saved a checkpoint.'),
  z
    .strictObject({ type: z.literal('evaluated'), set: evaluatedSetSchema })
    .describe('A set of checkpoints was evaluated.'),
  z.strictObject({ type: z.literal('ended'), record: runRecordSchema }).describe('The last line.'),
]);

/** The only line of `tutti train --detach`, `resume --detach` and `fork --detach`. */
export const detachedLineSchema = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('ready'), pid: z.int(), id: z.string(), folder: z.string() })
    .describe('All ranks are ready, and train.'),
  z
    .strictObject({
      type: z.literal('ended'),
      status: runStatusSchema,
      error: z.string().nullable(),
      pid: z.int(),
      id: z.string(),
      folder: z.string(),
    })
    .describe('The run has ended before that.'),
]);

/** `tutti show`. */
export const shownRunSchema = z.strictObject({
  folder: z.string(),
  name: z.string(),
  record: runRecordSchema,
  history: z.array(
    z.strictObject({
      attempt: attemptSchema,
      changes: z
        .array(z.strictObject({ path: z.string(), from: z.unknown(), to: z.unknown() }))
        .nullable()
        .describe('options that differ from those of the attempt before'),
      hasNewSource: z.boolean(),
      ending: z.string().nullable(),
    }),
  ),
  forks: z.array(z.strictObject({ id: z.string(), name: z.string(), status: runStatusSchema, folder: z.string() })),
  forkPoints: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(['state', 'checkpoint']),
      attempt: z.int(),
      ...position,
      savedAt: z.string(),
    }),
  ),
});

const values = 'one for each run or sweep';

/** `tutti compare`. */
export const comparisonSchema = z.strictObject({
  runs: z.array(
    z.strictObject({
      id: z.string().describe('of the run or sweep'),
      name: z.string(),
      status: runStatusSchema,
      seeds: z.strictObject({ finished: z.int(), of: z.int() }).nullable().describe('of a sweep; null for a run'),
    }),
  ),
  options: z
    .array(z.strictObject({ path: z.string(), values: z.array(z.unknown()).describe(values) }))
    .describe('the options that differ'),
  metrics: z
    .array(
      z.strictObject({
        set: z.string(),
        split: z.string(),
        metric: z.string(),
        values: z.array(realNumber.nullable()).describe(`${values}, of which it is the mean`),
        standardErrors: z.array(realNumber.nullable()).describe('of the means of sweeps; null for runs'),
      }),
    )
    .describe('of the ensemble, for each set of checkpoints'),
  best: z
    .array(
      z
        .strictObject({
          metric: z.string(),
          value: realNumber,
          epoch: z.int().nullable().describe('null for a sweep'),
          standardError: realNumber.nullable().describe('of the mean of a sweep; null for a run'),
        })
        .nullable(),
    )
    .describe('the best monitored value of each run, or null'),
  differences: z
    .array(
      z.strictObject({
        of: z.string(),
        from: z.string(),
        set: z.string(),
        split: z.string(),
        metric: z.string(),
        mean: realNumber,
        standardError: realNumber,
        count: z.int().describe('seeds that both have finished'),
      }),
    )
    .describe('of the ensembles of each sweep from those of the first one, paired by seed'),
});

/** `tutti calibrate`. */
export const calibratedSchema = z.strictObject({
  path: z.string().describe('the file that was written'),
  warnings: z.array(z.string()).describe('possible differences from the time when the run trained'),
  postprocessing: postprocessingSchema,
});

/** `tutti calibrate` with a sweep. */
const calibratedSweepSchema = z.strictObject({
  sweep: z.string(),
  runs: z.array(
    z.strictObject({ id: z.string(), seed: z.int(), path: z.string().describe('the file that was written') }),
  ),
  figures: z.array(
    z.strictObject({
      name: z.string(),
      before: estimateSchema.nullable(),
      after: estimateSchema,
      leftOut: z.array(z.int()).describe('seeds whose figure is not finite'),
    }),
  ),
});
export type CalibratedSweep = z.output<typeof calibratedSweepSchema>;

/** `tutti predict`. */
const predictOutputSchema = z.strictObject({
  rows: z.int().describe('that were written'),
  set: z.string().describe('the checkpoints that predicted'),
  output: z.string().describe('the file that was written'),
  warnings: z
    .array(z.string())
    .describe('values that are missing, unseen in training or outside its range, rows left out, and more'),
});
export type PredictOutput = z.output<typeof predictOutputSchema>;

/** `tutti ensemble`. */
export const ensembleOutputSchema = z.strictObject({
  id: z.string().describe('of the new run'),
  folder: z.string(),
  method: z.enum(partMethods),
  candidates: z.array(partSourceSchema).describe('the checkpoints that members were chosen from'),
  members: z
    .array(z.array(z.int()))
    .describe(
      'for each member the positions of its candidates; several if its weights are their mean, or were drawn around it',
    ),
  criterion: z
    .enum(partCriteria)
    .describe('by what members are chosen: the NLL in nats, or the pinball loss in the unit of the targets'),
  path: z
    .array(z.strictObject({ candidate: z.int(), loss: realNumber }))
    .describe('the candidates that were added, with the validation loss after each; empty where nothing was selected'),
  losses: z
    .strictObject({
      candidates: z.array(realNumber).describe('of each alone'),
      all: realNumber.describe('of all together'),
      chosen: realNumber.describe('of the new ensemble'),
    })
    .describe('on the validation split'),
  evaluated: evaluatedSetSchema,
  warnings: z.array(z.string()).describe('possible differences from the time when the runs trained'),
});

/** A line of `tutti discover`. */
export const discoverLineSchema = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('search'),
      id: z.string(),
      folder: z.string(),
      arms: z.array(z.string()).describe('the chosen acquisition, then those beside it'),
      candidates: z.int().describe('in the pool'),
      excluded: z.array(z.string()).describe('what the project left out of the pool'),
    })
    .describe('The search, as it begins or continues.'),
  z.strictObject({ type: z.literal('answers'), labels: z.int() }).describe('New labels of `--answers`.'),
  z.strictObject({ type: z.literal('labelled'), labels: z.int() }).describe('The start has labels.'),
  z
    .strictObject({
      type: z.literal('chosen'),
      choice: choiceSchema,
      labels: z.int().describe('of the arm so far'),
      hits: z.int().describe('among them'),
    })
    .describe('An arm has chosen, and its choice has labels.'),
  z
    .strictObject({ type: z.literal('waiting'), question: z.string().describe('a CSV file'), count: z.int() })
    .describe('A person must label.'),
  z
    .strictObject({
      type: z.literal('end'),
      kind: z.enum(['finished', 'waiting']),
      question: z.string().optional().describe('the CSV file to fill'),
      arms: z.array(z.strictObject({ arm: z.string(), labels: z.int(), hits: z.int() })),
      folder: z.string(),
    })
    .describe('All rounds are done, or a person must label.'),
  z
    .strictObject({
      type: z.literal('seeds'),
      seeds: z.array(z.int()),
      arms: z.array(z.strictObject({ arm: z.string(), labels: estimateSchema, hits: estimateSchema })),
    })
    .describe('The last line of `--repeat`: means with standard errors over the searches.'),
  z
    .strictObject({ type: z.literal('stopped'), folder: z.string() })
    .describe('The search was stopped, and can continue.'),
]);

/** `tutti devices`. */
export const devicesOutputSchema = z.strictObject({
  devices: z.array(deviceSchema.extend({ usable: z.boolean() })),
  notes: z.array(z.string()).describe('what could not be detected, and why'),
});

/** `tutti doctor`. */
export const doctorOutputSchema = z.strictObject({
  ok: z.boolean().describe('whether Tutti can work'),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(['ok', 'warn', 'fail']),
      detail: z.string(),
      remedy: z.string().optional().describe('how to repair it'),
    }),
  ),
});

/** A line of `tutti search`. */
export const searchLineSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('study'), study: studySchema, folder: z.string() }).describe('The first line.'),
  z.strictObject({ type: z.literal('trial'), trial: studyTrialSchema }).describe('A trial has ended.'),
  z
    .strictObject({
      type: z.literal('ended'),
      end: z.enum(['finished', 'stopped']),
      summary: studySummarySchema,
      importance: z.array(studyImportanceSchema).describe('which parameters matter, for each objective'),
    })
    .describe('The last line.'),
]);

/** A line of `tutti studies <study>`. */
export const shownStudyLineSchema = z.union([
  studyTrialSchema.describe('A trial.'),
  z
    .strictObject({
      importance: z.array(studyImportanceSchema).describe('which parameters matter, for each objective'),
    })
    .describe('The last line.'),
]);

const sweepRun = { index: z.int().describe('from 0'), seed: z.int().describe("the run's base seed") };

/** A line of `tutti train --repeat`, and of `tutti resume` with a sweep. */
export const sweepLineSchema = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('sweep'), sweep: sweepSummarySchema.shape.sweep })
    .describe('The sweep, as it begins or continues.'),
  z
    .strictObject({ type: z.literal('begun'), ...sweepRun, isResumed: z.boolean(), folder: z.string() })
    .describe('A run begins, or goes on.'),
  z
    .strictObject({
      type: z.literal('run'),
      ...sweepRun,
      by: z.enum(['this process', 'an earlier one', 'another process']).describe('who trained it'),
      id: z.string(),
      status: runStatusSchema,
      folder: z.string(),
    })
    .describe('A run has ended, or another process trains it.'),
  z
    .strictObject({
      type: z.literal('ended'),
      end: z.enum(['done', 'stopped', 'gave up']),
      summary: sweepSummarySchema,
    })
    .describe('The last line.'),
]);

/** What each command prints: one object, or one on each line. */
export const jsonOutputs = [
  { commands: ['train', 'resume', 'fork', 'attach'], isLines: true, schema: runLineSchema },
  { commands: ['train --repeat', 'resume <sweep>'], isLines: true, schema: sweepLineSchema },
  { commands: ['train --detach', 'resume --detach', 'fork --detach'], isLines: false, schema: detachedLineSchema },
  { commands: ['runs'], isLines: true, schema: runRowSchema },
  { commands: ['show'], isLines: false, schema: shownRunSchema },
  { commands: ['compare'], isLines: false, schema: comparisonSchema },
  { commands: ['show <sweep>'], isLines: false, schema: sweepSummarySchema },
  { commands: ['calibrate'], isLines: false, schema: calibratedSchema },
  { commands: ['calibrate <sweep>'], isLines: false, schema: calibratedSweepSchema },
  { commands: ['inspect'], isLines: false, schema: fileProfileSchema },
  { commands: ['predict'], isLines: false, schema: predictOutputSchema },
  { commands: ['ensemble'], isLines: false, schema: ensembleOutputSchema },
  { commands: ['discover'], isLines: true, schema: discoverLineSchema },
  { commands: ['search'], isLines: true, schema: searchLineSchema },
  { commands: ['studies'], isLines: true, schema: studySummarySchema },
  { commands: ['studies <study>'], isLines: true, schema: shownStudyLineSchema },
  { commands: ['devices'], isLines: false, schema: devicesOutputSchema },
  { commands: ['doctor'], isLines: false, schema: doctorOutputSchema },
] as const;

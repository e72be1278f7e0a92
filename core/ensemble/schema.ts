import { z } from 'zod';
import { taskKinds } from '../metrics/registry/metric.ts';
import { combinations } from '../metrics/combination.ts';
import { furtherOutputSchema } from './predictions.ts';

/**
 * `ensemble.json`: what a program needs to predict with an ensemble, beside the files that it names. `docs/formats.md`
 * describes it.
 */

/** A path below the folder of `ensemble.json`, with `/`. No part begins with a dot, so none leads out. */
const pathSchema = z.string().regex(/^\w[\w.-]*(\/\w[\w.-]*)*$/, 'it must be a relative path inside the folder');
const sha256Schema = z.string().regex(/^[\da-f]{64}$/, 'it must be 64 hexadecimal digits');

const memberSchema = z.strictObject({
  rank: z.int().min(0),
  /** Position of its weights in training. */
  epoch: z.int(),
  step: z.int(),
  /** The architecture, as `modelTopology` of `tf.loadLayersModel`. */
  model: pathSchema,
  /** A safetensors file, with its size and SHA-256. */
  weights: pathSchema,
  bytes: z.int().positive(),
  sha256: sha256Schema,
});
/** A member: where its architecture and its weights are. */
export type EnsembleMember = z.output<typeof memberSchema>;

export const ensembleSchema = z.strictObject({
  format: z.literal(1),
  /** The run's name and id, and the name of the checkpoints. */
  name: z.string(),
  run: z.string(),
  set: z.string(),
  task: z.enum(taskKinds),
  /** How members predict together. */
  combination: z.enum(combinations),
  /** Further outputs of the models, after those of the task, in their order. */
  outputs: z.array(furtherOutputSchema).default([]),
  /** The names, in the order of the classes; null where the data give none. */
  classNames: z.array(z.string()).nullable(),
  /** Levels of the quantiles; null for other tasks, and for runs that did not record them. */
  quantiles: z.array(z.number()).nullable(),
  members: z.array(memberSchema).min(1),
  /** What was fitted on the training split; null where nothing is to be applied to new inputs. */
  preprocessing: pathSchema.nullable(),
  /** What was fitted on held-out predictions (calibration, conformal sets, thresholds); null if nothing was. */
  postprocessing: pathSchema.nullable(),
});
/** What a program needs to predict with an ensemble. */
export type EnsembleDescription = z.output<typeof ensembleSchema>;

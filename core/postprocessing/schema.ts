import { z } from 'zod';
import { combinations } from '../metrics/combination.ts';
import { taskKinds } from '../metrics/registry/metric.ts';
import { realNumber } from '../protocol/wire/numbers.ts';
import { measuredSchema } from './measured-schema.ts';
import { distanceScoreNames } from './outside/distances.ts';

/**
 * What was fitted on held-out predictions of a set of checkpoints: kept beside the run's checkpoints and applied
 * wherever the set predicts (`applyToClasses`, `applyToValues`). `docs/formats.md` describes the file.
 */

/** Ways to calibrate an ensemble's probabilities, and standard deviations. */
export const calibrationMethods = [
  'auto',
  'none',
  'pooled-temperature',
  'shared-temperature',
  'member-temperatures',
  'joint-temperatures',
  'vector',
  'dirichlet',
  'isotonic',
  'label-temperature',
  'label-temperatures',
  'platt',
  'sigma',
] as const;

const finite = z.number();
const positive = z.number().positive();

const isotonicMapSchema = z.strictObject({
  /** Ascending probabilities; between two the map is linear, outside of them constant. */
  from: z.array(finite).min(1),
  /** The values there, as many. */
  to: z.array(finite).min(1),
});
/** A monotone map of one class's probability. */
export type IsotonicMap = z.output<typeof isotonicMapSchema>;

export const temperatureFits = ['shared', 'per-member', 'joint'] as const;

const calibrationSchema = z.discriminatedUnion('method', [
  z.strictObject({
    /** Each member's logits are divided by its temperature; the ensemble is the mean of the resulting probabilities. */
    method: z.literal('temperature'),
    /**
     * `shared`: one temperature, the ensemble's NLL is least. `per-member`: each member's own NLL is least. `joint`:
     * all temperatures together, the ensemble's NLL is least.
     */
    fit: z.enum(temperatureFits),
    /** One for each of the set's members, in their order, shape `[M]`. */
    temperatures: z.array(positive).min(1),
  }),
  z.strictObject({
    /** The logarithms of the ensemble's probabilities are divided by one temperature. */
    method: z.literal('pooled-temperature'),
    temperature: positive,
  }),
  z.strictObject({
    /** softmax(scale_k log p_k + bias_k) of the ensemble's probabilities p; shapes `[K]`. */
    method: z.literal('vector'),
    scale: z.array(finite).min(2),
    bias: z.array(finite).min(2),
  }),
  z.strictObject({
    /** softmax(W log p + bias) of the ensemble's probabilities p; shapes `[K, K]` and `[K]`. */
    method: z.literal('dirichlet'),
    weights: z.array(z.array(finite)).min(2),
    bias: z.array(finite).min(2),
  }),
  z.strictObject({
    /** A map for each class of the ensemble's probabilities, then divided by their sum; shape `[K]`. */
    method: z.literal('isotonic'),
    classes: z.array(isotonicMapSchema).min(2),
  }),
  z.strictObject({
    /** σ(scale_l z_l + bias_l) of the logits z of the ensemble's probabilities of labels; shapes `[L]`. */
    method: z.literal('labels'),
    /** `shared`: one temperature 1 / scale. `each`: one for each label. `platt`: also a bias. */
    fit: z.enum(['shared', 'each', 'platt']),
    scale: z.array(finite).min(1),
    bias: z.array(finite).min(1),
  }),
  z.strictObject({
    /** The standard deviation of each target is multiplied by its scale, shape `[T]`. */
    method: z.literal('sigma'),
    scales: z.array(positive).min(1),
  }),
]);
const judgedSchema = z.strictObject({
  /** The method that was asked for, or that `auto` stands for. */
  method: z.enum(calibrationMethods),
  /** How many samples fitted and judged it, each with all its steps, and in how many parts. */
  samples: z.int().positive(),
  folds: z.int().positive(),
  /** The fall of the NLL on samples that it was not fitted on, in nats per sample, with an interval of 95 %. */
  gain: z.strictObject({ mean: realNumber, lower: realNumber, upper: realNumber }),
  /**
   * The excess of the right class's logarithm of the probability over the mean of all classes, in nats, with an
   * interval of 95 %: below 0 where the answers contradict the labels. Null for values.
   */
  agreement: z.strictObject({ mean: realNumber, lower: realNumber, upper: realNumber }).nullable(),
  /** False: it does not help, or the answers contradict the labels, so that `calibration` is null. */
  isKept: z.boolean(),
  /** Fitted temperatures at an end of the range that is tried. */
  ends: z.array(positive),
});
/** A calibration in cross-validation. */
export type Judged = z.output<typeof judgedSchema>;

/** How an ensemble's probabilities or standard deviations are corrected. */
export type Calibration = z.output<typeof calibrationSchema>;

const alpha = z.number().gt(0).lt(1);

/** Scores of prediction sets; of equally small ones the first is taken. */
export const setMethods = ['thr', 'raps', 'aps'] as const;

const conformalSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sets'),
    method: z.enum(setMethods),
    /** Wished share of samples whose set lacks their class. */
    alpha,
    /** Largest score of a class in the set: one for all classes, or with `isClassConditional` one each, shape `[K]`. */
    thresholds: z.array(realNumber).min(1),
    isClassConditional: z.boolean(),
    /** RAPS: what each rank beyond `freeRanks` adds to the score; else 0. */
    penalty: z.number().min(0),
    freeRanks: z.int().min(0),
    /** How many samples fitted each threshold. */
    counts: z.array(z.int().min(0)),
    /**
     * What `auto` chose from: share of held-out samples whose set has their class, and mean size, of each method in
     * cross-validation.
     */
    compared: z
      .strictObject({
        samples: z.int().positive(),
        /** How many a comparison needs; with fewer `methods` is empty and the first of all taken. */
        needed: z.int().positive(),
        methods: z.array(z.strictObject({ method: z.enum(setMethods), coverage: z.number(), meanSize: z.number() })),
      })
      .nullable()
      .optional(),
  }),
  z.strictObject({
    kind: z.literal('intervals'),
    /** mean ± margin, mean ± margin · std, or [lower − margin, upper + margin] of two predicted quantiles. */
    method: z.enum(['split', 'sigma-scaled', 'cqr']),
    alpha,
    /** One for each target, shape `[T]`. */
    margins: z.array(realNumber).min(1),
    /** CQR: positions of the lower and the upper quantile among the outputs; else null. */
    quantiles: z.tuple([z.int().min(0), z.int().min(0)]).nullable(),
    /** How many samples fitted each margin. */
    counts: z.array(z.int().min(0)),
  }),
]);
/** How conformal sets or intervals are made. */
export type Conformal = z.output<typeof conformalSchema>;
export type ConformalSets = Extract<Conformal, { kind: 'sets' }>;
export type ConformalIntervals = Extract<Conformal, { kind: 'intervals' }>;

export const predictionScoreNames = ['entropy', 'mutual-information', 'energy', 'max-logit', 'variance'] as const;
/** A score of what the members predict for a sample. */
export type PredictionScore = (typeof predictionScoreNames)[number];

export const outsideScoreNames = [...predictionScoreNames, ...distanceScoreNames] as const;
/** A score that is larger for samples unlike the training data. */
export type OutsideScore = (typeof outsideScoreNames)[number];

const referenceFileSchema = z.strictObject({
  /**
   * A safetensors file, relative to the folder of the run or the ensemble (`outside/reference-file.ts`), with its size
   * and SHA-256.
   */
  path: z.string().regex(/^postprocessing\/\w[\w-]*\.safetensors$/, 'it must be a file of the folder postprocessing'),
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[\da-f]{64}$/, 'it must be 64 hexadecimal digits'),
});
/** Where the training samples are kept that distances are measured from. */
export type ReferenceFile = z.output<typeof referenceFileSchema>;

export const postprocessingSchema = z.strictObject({
  format: z.literal(1),
  task: z.enum(taskKinds),
  /** The checkpoints whose predictions were fitted, in the order of the members. */
  set: z.strictObject({
    name: z.string(),
    members: z.array(z.strictObject({ rank: z.int().min(0), checkpoint: z.string(), epoch: z.int().min(0) })).min(1),
  }),
  /** Names of the classes or labels; null: they have none. */
  classNames: z.array(z.string()).nullable(),
  /** Names of the targets that are values; null: they have none. */
  targetNames: z.array(z.string()).nullable(),
  /** How the members answered when it was fitted. */
  combination: z.enum(combinations),
  fittedOn: z.strictObject({
    split: z.enum(['validation', 'test']),
    samples: z.int().positive(),
    /** How many of them fitted the calibration, and how many the rest; null: all fitted everything. */
    parts: z.strictObject({ calibration: z.int().positive(), others: z.int().positive() }).nullable(),
  }),
  calibration: calibrationSchema.nullable(),
  /** How the calibration was judged; null: none was asked for. */
  judged: judgedSchema.nullable(),
  conformal: conformalSchema.nullable(),
  /** A sample is outside the training data where its score, of the uncalibrated members, is above the threshold. */
  outside: z
    .strictObject({
      score: z.enum(outsideScoreNames),
      threshold: finite,
      /** Share of the fitted samples at or below the threshold. */
      quantile: z.number().gt(0).lt(1),
      /** The same threshold of each other score of what the members predict, to show. */
      others: z.array(z.strictObject({ score: z.enum(predictionScoreNames), threshold: finite })),
      /** What a distance is measured from; absent or null for scores of predictions. */
      reference: referenceFileSchema.nullable().optional(),
    })
    .nullable(),
  /** An answer is withheld where its confidence is below the threshold. */
  selective: z
    .strictObject({
      threshold: finite,
      /** Wished risk; the risk and the share of answered samples of the fitted split follow. */
      wishedRisk: z.number().min(0),
      risk: finite,
      coverage: z.number().min(0).max(1),
    })
    .nullable(),
  /** What it changes on another split; null without one. */
  measured: measuredSchema.nullable(),
});
/** What was fitted on held-out predictions of a set. */
export type Postprocessing = z.output<typeof postprocessingSchema>;

/** Path of a set's file in its run's folder. */
export const postprocessingPath = (set: string): string => `postprocessing/${set}.json`;

/** Path of the file that a set's distances are measured from, by the SHA-256 of its content. */
export const referencePath = (set: string, sha256: string): string =>
  `postprocessing/${set}-${sha256.slice(0, 16)}.safetensors`;

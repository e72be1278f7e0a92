import { z } from 'zod';
import { tokenizerSchema } from '../tokens/tokenizer.ts';
import { columnTypeSchema, tableReadingSchema } from './reading.ts';

/**
 * What a project fitted on its training split, in the order in which it is applied to raw values. Kept as
 * `preprocessing.json` in a run and in its exports. `docs/formats.md` describes it.
 */

const finite = z.number();

/**
 * How missing values of a column were filled: by a value, with or without an indicator column after the column's own.
 */
const imputeSchema = z.strictObject({ value: z.union([finite, z.string()]), indicator: z.boolean() });

const numberColumnSchema = z.strictObject({
  name: z.string(),
  /** A date counts as days since 1970-01-01 UTC, a boolean as 0 or 1. */
  type: z.enum(['number', 'date', 'boolean']),
  impute: imputeSchema.extend({ value: finite }).nullable(),
  /** Applied after imputation: (value − mean) / std. */
  mean: finite,
  std: finite.positive(),
  /** Of the values of the training split that are not missing: a prediction for values beyond them is a guess. */
  smallest: finite,
  largest: finite,
});

const categoryColumnSchema = z.strictObject({
  name: z.string(),
  type: z.literal('category'),
  impute: imputeSchema.extend({ value: z.string() }).nullable(),
  /**
   * One feature each, in this order: 1 where the value is the category. A value that the training split lacks gives
   * zeros.
   */
  categories: z.array(z.string()).min(1),
});

/** Columns with more categories than this become embeddings in a project that is proposed; others stay one-hot. */
const mostOneHot = 20;

/**
 * The length of the vectors that stand for n categories: min(50, round(1.6 n^0.56)); null for few categories, which
 * stay one-hot. Source: `emb_sz_rule` of fastai (fastai/tabular/model.py), with a lower limit.
 */
export function embeddingWidth(count: number): number | null {
  return count > mostOneHot ? Math.min(50, Math.round(1.6 * count ** 0.56)) : null;
}

export const columnStepSchema = z.discriminatedUnion('type', [numberColumnSchema, categoryColumnSchema]);
/** How a column of a table becomes features. */
export type ColumnStep = z.output<typeof columnStepSchema>;

const tableStepSchema = z.strictObject({ kind: z.literal('table'), columns: z.array(columnStepSchema) });
/** Features are the columns' features, one after the other. */
export type TableStep = z.output<typeof tableStepSchema>;

const textColumnSchema = z.strictObject({
  name: z.string(),
  tokenizer: tokenizerSchema,
  /** Tokens of every text. */
  length: z.int().positive(),
  /** Where short texts are padded. */
  padding: z.enum(['start', 'end']),
  /** Whether a missing text counts as an empty one. */
  impute: z.boolean(),
  /** Name of the model's input that takes the ids; null: the model's only one, or the one of the features. */
  input: z.string().nullable(),
});
/** How a column of texts becomes ids of tokens. */
export type TextColumnStep = z.output<typeof textColumnSchema>;

const textsStepSchema = z.strictObject({ kind: z.literal('texts'), columns: z.array(textColumnSchema).min(1) });

const seriesColumnSchema = z.strictObject({ name: z.string(), type: columnTypeSchema });

const seriesStepSchema = z.strictObject({
  kind: z.literal('series'),
  /** The columns of numbers of which each step has the values. */
  columns: z.array(seriesColumnSchema).min(1),
  /** Steps of a sample: the last ones of each series. */
  length: z.int().positive(),
  /** The column that orders the steps; null: they are taken as they come. */
  time: seriesColumnSchema.nullable(),
  /** The column that tells several series apart; null: there is one. */
  entity: seriesColumnSchema.nullable(),
  /** What steps mean that are longer than usual; null: these are refused. */
  gaps: z.enum(['cut', 'ignore']).nullable(),
});
/** How the rows of a table, which are steps of series, become a sample for each series. */
export type SeriesStep = z.output<typeof seriesStepSchema>;

const standardizeStepSchema = z.strictObject({
  kind: z.literal('standardize'),
  /** Value i of a sample takes entry i mod C: (value − mean) / std. Bytes are divided by 255 first. */
  mean: z.array(finite),
  std: z.array(finite.positive()),
});

const imagesStepSchema = z.strictObject({
  kind: z.literal('images'),
  /** Sizes in pixels. */
  height: z.int().positive(),
  width: z.int().positive(),
  /** 1: grey, 3: RGB. */
  channels: z.union([z.literal(1), z.literal(3)]),
  /** How an image of another shape is resized: with a black border, cropped around its centre, or distorted. */
  fit: z.enum(['contain', 'cover', 'stretch']),
  /**
   * The value that becomes 255 in images of more than 8 bits a value, where it was given; otherwise 65535 of 16 bits.
   */
  maximum: z.number().positive().optional(),
});
/** How an image becomes bytes of one size. */
export type ImagesStep = z.output<typeof imagesStepSchema>;

const targetSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('classes'), column: z.string(), classNames: z.array(z.string()) }),
  z.strictObject({
    kind: z.literal('values'),
    columns: z.array(z.string()),
    mean: z.array(finite),
    std: z.array(finite),
  }),
]);
/** What a target's number means: a class, or mean + std · value in the target's own unit. */
export type TargetMeaning = z.output<typeof targetSchema>;

export const preprocessingSchema = z.strictObject({
  format: z.literal(1),
  steps: z.array(
    z.discriminatedUnion('kind', [
      tableStepSchema,
      textsStepSchema,
      imagesStepSchema,
      seriesStepSchema,
      standardizeStepSchema,
    ]),
  ),
  target: targetSchema.optional(),
  /** How the training table was read; absent where the data come from no table. */
  reading: tableReadingSchema.optional(),
  /** Names of the features, in their order, where columns of numbers are the features as they are. */
  featureNames: z.array(z.string()).optional(),
  /** Names of the further inputs that the data have beside the features; absent where there are none. */
  extraInputs: z.array(z.string()).optional(),
});
/** What was fitted on a training split. */
export type Preprocessing = z.output<typeof preprocessingSchema>;

/** Names of targets that are values, in their order; undefined where there are none. */
export function targetNamesOf(preprocessing: Preprocessing | null): readonly string[] | undefined {
  const target = preprocessing?.target;
  return target?.kind === 'values' ? target.columns : undefined;
}

/**
 * Names of the inputs beside that of the features: those of columns of texts, and those that the data have. They take
 * values as the model does.
 */
export function furtherInputs({ steps, extraInputs = [] }: Preprocessing): string[] {
  const texts = steps.flatMap((step) => (step.kind === 'texts' ? step.columns : []));
  return [...texts.flatMap(({ input }) => input ?? []), ...extraInputs];
}

/** The position of a model's input that takes the features; null where the run did not keep which of several it is. */
export function featurePosition(
  { inputs, inputNames }: { inputs: readonly unknown[]; inputNames: readonly string[] },
  preprocessing: Preprocessing | null,
): number | null {
  // A sequential model has no names of inputs.
  if (inputs.length === 1) return 0;
  const further = preprocessing === null ? [] : furtherInputs(preprocessing);
  const free = inputNames.flatMap((name, i) => (further.includes(name) ? [] : [i]));
  return free.length === 1 ? free[0] : null;
}

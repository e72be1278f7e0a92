import { z } from 'zod';
import { columnReadingSchema, type TableReading, tableReadingSchema } from './reading.ts';

/**
 * What is in a file of data: how it was understood, what each column holds, and what a person should know before a
 * model learns from it. One description for the terminal, the pages and the project that is written from the file.
 */

export const findingLevels = ['question', 'warning', 'note'] as const;

/** Something that a person should know, or decide, before training. */
export const findingSchema = z.strictObject({
  /**
   * `question`: two readings are possible, and one was assumed. `warning`: training goes on, but is likely not what was
   * meant. `note`: what was assumed, and is probably right.
   */
  level: z.enum(findingLevels),
  kind: z.enum([
    'encoding',
    'sheet',
    'range',
    'hidden',
    'merged',
    'formulas',
    'cell-errors',
    'header',
    'comments',
    'number-format',
    'date-format',
    'misfits',
    'missing-texts',
    'spellings',
    'missing-values',
    'sentinel',
    'row-counter',
    'identifier',
    'constant',
    'copy',
    'codes',
    'free-text',
    'image-names',
    'missing-images',
    'contradictions',
    'left-out',
    'duplicates',
    'shared-rows',
    'rare-classes',
    'answer',
    'sorted',
    'time',
    'time-order',
    'gaps',
    'double-times',
    'time-zones',
    'clock',
    'groups',
    'splits',
    'subfolders',
    'depth',
    'pages',
    'colours',
    'sizes',
    'formats',
    'unreadable',
  ]),
  /** The column that it is about, or the folder that may be a split; null: the whole table or folder of images. */
  column: z.string().nullable(),
  message: z.string(),
  /**
   * The possible answers to a question, of which the first one is assumed; of another finding, what can be said instead
   * of what is assumed. Null: any answer, or nothing to say.
   */
  choices: z.array(z.string()).nullable(),
  /** What settles it, as a project spells it: `readTable(file, { columns: { id: 'ignore' } })`; null: nothing to do. */
  option: z.string().nullable(),
});
export type Finding = z.output<typeof findingSchema>;

/** Findings in the order of their levels: questions first. */
export function byLevel(findings: readonly Finding[]): Finding[] {
  return findingLevels.flatMap((level) => findings.filter((finding) => finding.level === level));
}

/** One bar of a small chart: a range of numbers, or a category. */
const barSchema = z.strictObject({ label: z.string(), count: z.int().min(0) });
export type Bar = z.output<typeof barSchema>;

/** A value of a column, as a person reads it; dates are ISO 8601. */
const shownSchema = z.union([z.number(), z.string()]);
export type Shown = z.output<typeof shownSchema>;

export const columnProfileSchema = columnReadingSchema.extend({
  /** Cells with a value that fits the type. */
  present: z.int().min(0),
  /** Distinct values of these. */
  distinctValues: z.int().min(0),
  /** The range of numbers, dates and booleans; null for others, and where there is no value. */
  range: z.strictObject({ smallest: shownSchema, median: shownSchema, largest: shownSchema }).nullable(),
  /** The first distinct values. */
  examples: z.array(shownSchema),
  /** The first cells that do not fit the type, with their places: `houses.csv, line 3, column 2 (size)`. */
  misfits: z.array(z.strictObject({ place: z.string(), text: z.string() })),
  misfitCount: z.int().min(0),
  bars: z.array(barSchema),
});
export type ColumnProfile = z.output<typeof columnProfileSchema>;

/** The share of the rows that validates, and the share that tests, in a project that is proposed. */
export const heldOutShare = 0.2;

const timeProfileSchema = z.strictObject({
  name: z.string(),
  reason: z.string(),
  /** The column that tells several series apart; null: there is one. */
  entity: z.string().nullable(),
  /** The steps of the series; null where rows are no steps. */
  series: z
    .strictObject({
      /** The usual length of a step, in days for dates. */
      step: z.number(),
      /** Steps that are not about as long, and whether all of these are longer. */
      uneven: z.int().min(0),
      areGaps: z.boolean(),
      /** Rows with the time of another row. */
      doubles: z.int().min(0),
      /** Rows of the shortest series. */
      fewestSteps: z.int().min(1),
    })
    .nullable(),
  /**
   * Rows that train, validate and test where the latest fifth tests and the fifth before validates, and the first times
   * of both; null where these cannot be told apart.
   */
  split: z
    .strictObject({
      train: z.int().min(1),
      validation: z.int().min(1),
      validationFrom: shownSchema,
      test: z.int().min(1),
      testFrom: shownSchema,
    })
    .nullable(),
});

export type TimeProfile = z.output<typeof timeProfileSchema>;

const count = z.int().min(0);

const splitProfileSchema = z.strictObject({
  name: z.string(),
  /** Rows of each split. */
  train: count,
  validation: count,
  test: count,
  /** Rows whose value is no name of a split, and the first such values. */
  other: count,
  examples: z.array(z.string()),
  /** Rows without a value. */
  missing: count,
});
export type SplitProfile = z.output<typeof splitProfileSchema>;

export const tableProfileSchema = z.strictObject({
  kind: z.literal('table'),
  /** Size of the file. */
  bytes: z.int().min(0),
  /** The profile is of the rows in so many bytes at the beginning of the file; null: of all rows. */
  sampleBytes: z.int().min(0).nullable(),
  reading: tableReadingSchema,
  columns: z.array(columnProfileSchema),
  /** The column that the model is to predict, as the user says or as it is proposed, and why. */
  target: z.strictObject({ name: z.string(), reason: z.string() }).nullable(),
  /** The column of the time, as the user says or because the rows are the steps of a series. */
  time: timeProfileSchema.nullable(),
  /** The column that names the split of each row, as the user says or because its values are names of splits. */
  split: splitProfileSchema.nullable(),
  findings: z.array(findingSchema),
});
export type TableProfile = z.output<typeof tableProfileSchema>;

/** The values of a column: NaN or null where one is missing; shape `[N]`. */
export interface ProfiledColumn {
  readonly name: string;
  readonly type: ColumnProfile['type'];
  readonly values: Float64Array | readonly (string | null)[];
  /** Whether a column of numbers has one of several digits that begins with 0. */
  readonly hasLeadingZeros?: boolean;
  /** Whether its numbers are times of day. */
  readonly isClock?: boolean;
  /** How many times are written with each zone; those without one are under the empty text. Days do not count. */
  readonly zones?: ReadonlyMap<string, number>;
}

/** A table whose columns were profiled. */
export interface ProfiledTable {
  reading: TableReading;
  columns: readonly ColumnProfile[];
  /** The values of the same columns. */
  values: readonly ProfiledColumn[];
  /** The columns to predict, by name. */
  targets: readonly string[];
  /** The column that names the split of each row. */
  split: string | null;
}

import { z } from 'zod';
import { sampleEndings } from '../../preprocessing/data-formats.ts';
import type { PredictionColumn } from '../../ensemble/columns.ts';
import type { Postprocessing } from '../../postprocessing/schema.ts';
import type { InputPart } from '../../ensemble/sample-inputs.ts';
import type { ExportResult } from './run-data.ts';

/** What a page sends to have new samples predicted, and what it gets. */

/** Bytes of samples in one call: a page's call may have 1 MiB. A larger file is sent in parts. */
export const maximumSampleBytes = 1_000_000;
/** A larger file is predicted from a terminal, which needs no copy of it. */
export const maximumUploadBytes = 2 ** 30;
/** Predictions of more bytes are not sent to the page, but saved as an export. */
export const maximumAnswerBytes = 8_000_000;
/** Rows that a page shows. All are in the CSV file. */
export const shownSampleRows = 100;

/**
 * Endings of files that a page may send in parts: samples, journals of Optuna, and exported runs. The hub names these
 * files, the page only their kind.
 */
export const uploadEndings = [...sampleEndings, 'log', 'zip'] as const;
export type UploadEnding = (typeof uploadEndings)[number];

const sentBytes = z
  .instanceof(Uint8Array)
  .refine(({ length }) => length > 0 && length <= maximumSampleBytes, `it must have 1 to ${maximumSampleBytes} bytes`);

export const sampleFileSchema = z.strictObject({
  ending: z.enum(sampleEndings),
  bytes: sentBytes,
});
/** A file of samples, or one image. */
export type SampleFile = z.output<typeof sampleFileSchema>;

/** A file's own name, which becomes part of a path: it names no folder, and every system can store it. */
const fileNameSchema = z
  .string()
  .min(1)
  .max(200)
  .refine((name) => !/^\.+$|[\\/<>:"|?*\p{Cc}]/u.test(name), 'it must be the name of a file, without a folder');

const announcedBytes = z.int().min(1).max(maximumUploadBytes);
/** A folder of more files is given by its path: their names would not fit into one call. */
export const maximumUploadFiles = 10_000;
/** A path in a folder, of names as above. */
const pathSchema = z
  .string()
  .max(1000)
  .refine((path) => path.split('/').every((name) => fileNameSchema.safeParse(name).success), 'it must be a safe path');
export const uploadRequestSchema = z.union([
  z.strictObject({ ending: z.enum(uploadEndings), bytes: announcedBytes }),
  /** A file of data, which keeps its name in the project that is written from it. */
  z.strictObject({ name: fileNameSchema, bytes: announcedBytes }),
  /** A folder, whose files are sent as one, in this order. */
  z.strictObject({
    name: fileNameSchema,
    bytes: announcedBytes,
    files: z
      .array(z.strictObject({ path: pathSchema, bytes: z.int().min(0) }))
      .min(1)
      .max(maximumUploadFiles),
  }),
]);
/** A file, or a folder, that a page is about to send in parts. */
export type UploadRequest = z.output<typeof uploadRequestSchema>;

/** A part of it. */
export const uploadPartSchema: z.ZodType<Uint8Array> = sentBytes;

/** What to predict: a file, or the name of a file that was sent in parts. */
export const samplesToPredictSchema = z.union([sampleFileSchema, z.strictObject({ upload: z.uuid() })]);
export type SamplesToPredict = z.output<typeof samplesToPredictSchema>;

/** A column that a row of samples has. */
export interface SampleField {
  name: string;
  type: 'number' | 'date' | 'boolean' | 'category' | 'text';
  /** The categories of the training split, for a column of categories. */
  categories: string[];
  /** The mean in the training split as an example, for a column of numbers. */
  mean: number | null;
  /** Whether a value may be missing. */
  isOptional: boolean;
}

/** What an ensemble takes. */
export interface SampleForm {
  /** Name of the checkpoints that predict. */
  set: string;
  ranks: number[];
  /** Fields of a row; null where the run kept no columns and has too many features to fill in. */
  fields: SampleField[] | null;
  /**
   * Of steps of series: the columns of a step, the one that tells several series apart (null: there is one), and the
   * steps of a sample; null for others.
   */
  series: { columns: string[]; entity: string | null; length: number } | null;
  /** Whether it takes images. */
  takesImages: boolean;
}

export interface SamplePredictions {
  set: string;
  rows: number;
  /** The first rows, with the columns of each member (`member_<rank>_...`). */
  first: PredictionColumn[];
  /** The thresholds of samples outside the training data; null where none were fitted. */
  outside: Postprocessing['outside'];
  /** What the model got for each of these samples; empty where that cannot be shown. */
  inputs: InputPart[][];
  /** All rows, or where they were saved because they are too many for a page. */
  csv: Uint8Array | ExportResult;
  /** Possible differences from the time when the run trained. */
  warnings: string[];
}

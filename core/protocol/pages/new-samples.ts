import { z } from 'zod';
import type { PredictionColumn } from '../../ensemble/columns.ts';

/** What a page sends to have new samples predicted, and what it gets. */

/** A page's call may have 1 MiB. */
export const maximumSampleBytes = 1_000_000;
/** Rows that a page shows. All are in the CSV file. */
export const shownSampleRows = 100;

/** Endings of files that hold one image. */
export const imageEndings = ['png', 'jpg', 'jpeg', 'webp', 'tif', 'tiff'] as const;
/** Endings of files that a page may send: the hub names the file, the page only its kind. */
export const sampleEndings = ['csv', 'tsv', 'jsonl', 'ndjson', 'txt', 'npy', ...imageEndings] as const;
export type SampleEnding = (typeof sampleEndings)[number];

export const sampleFileSchema = z.strictObject({
  ending: z.enum(sampleEndings),
  bytes: z
    .instanceof(Uint8Array)
    .refine(
      ({ length }) => length > 0 && length <= maximumSampleBytes,
      `it must have 1 to ${maximumSampleBytes} bytes`,
    ),
});
/** A file of samples, or one image. */
export type SampleFile = z.output<typeof sampleFileSchema>;

/** A column that a row of samples has. */
export interface SampleField {
  name: string;
  type: 'number' | 'date' | 'boolean' | 'category' | 'text';
  /** Of a category: those of the training split. */
  categories: string[];
  /** Of a number: its mean in the training split, as an example. */
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
  /** Whether it takes images. */
  takesImages: boolean;
}

export interface SamplePredictions {
  set: string;
  rows: number;
  /** The first rows, with the columns of each member (`member_<rank>_...`). */
  first: PredictionColumn[];
  /** All rows. */
  csv: Uint8Array;
  /** Possible differences from the time when the run trained. */
  warnings: string[];
}

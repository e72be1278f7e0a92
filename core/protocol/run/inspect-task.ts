import { z } from 'zod';
import { tableProfileSchema } from '../../preprocessing/profile.ts';
import { dateFormats, delimiterSchema } from '../../preprocessing/reading.ts';

/** How the user says that a table is read; what is absent is found out. */
export const readingOptionsSchema = z.strictObject({
  delimiter: delimiterSchema.optional(),
  header: z.boolean().optional(),
  encoding: z.string().optional(),
  decimal: z.enum(['.', ',']).optional(),
  dateFormat: z.enum(dateFormats).optional(),
  missingValues: z.array(z.string()).optional(),
});
export type ReadingOptions = z.output<typeof readingOptionsSchema>;

/** The task of the process that inspects a file of data (`workers/entries/inspect.ts`). */
export const inspectTaskSchema = z.strictObject({
  /** An absolute path. */
  path: z.string(),
  /** The column to predict; absent: one is proposed. */
  target: z.string().optional(),
  reading: readingOptionsSchema,
});
export type InspectTask = z.output<typeof inspectTaskSchema>;

/** What is in a file. */
export const fileProfileSchema = tableProfileSchema;
export type FileProfile = z.output<typeof fileProfileSchema>;

export type InspectReply =
  { type: 'inspected'; profile: FileProfile } | { type: 'failed'; message: string; stack: string };

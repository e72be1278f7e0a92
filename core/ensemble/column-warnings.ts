import { z } from 'zod';

/** What predictions could not use of a column of a table, and what stands for it. */
export const columnWarningSchema = z.strictObject({
  /** Name of the column. */
  column: z.string(),
  /** Rows that were predicted. */
  rows: z.int().positive(),
  /** Rows without a value; they count as the value that training put for missing ones. */
  missing: z.int().min(0),
  /** Rows with a category that the training split lacks; they count as none of its categories. */
  unseen: z.int().min(0),
  /** The most frequent such values, at most three. */
  unseenValues: z.array(z.strictObject({ value: z.string(), count: z.int().positive() })),
});
export type ColumnWarning = z.output<typeof columnWarningSchema>;

import { z } from 'zod';

const countedValueSchema = z.strictObject({ value: z.string(), count: z.int().positive() });

/** What of a column of a table does not fit the training split, and what predictions make of it. */
export const columnWarningSchema = z.strictObject({
  /** Name of the column. */
  column: z.string(),
  /** Rows that were predicted. */
  rows: z.int().positive(),
  /**
   * Rows without a value, all of them where the column is absent; they count as the value that training put for missing
   * ones.
   */
  missing: z.int().min(0),
  /** Rows with a value that is not of the column's type, such as a text for a number; they count as missing ones do. */
  mistyped: z.int().min(0),
  /** The most frequent such values as texts, at most three. */
  mistypedValues: z.array(countedValueSchema).max(3),
  /** Rows with a category that the training split lacks; they count as none of its categories. */
  unseen: z.int().min(0),
  /** The most frequent such values, at most three. */
  unseenValues: z.array(countedValueSchema).max(3),
  /** Rows with a number or date below the smallest or above the largest of the training split; they count as they are. */
  outside: z.int().min(0),
  /** The smallest and the largest of these as texts, one where they are the same; dates in ISO 8601. */
  outsideValues: z.array(z.string()).max(2),
});
export type ColumnWarning = z.output<typeof columnWarningSchema>;

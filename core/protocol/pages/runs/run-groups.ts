import { z } from 'zod';
import type { Estimate } from '../../../numeric/estimate.ts';
import { runQuerySchema } from '../run-list.ts';
import { fieldSchema, type FieldSummary, type FieldValue, groupKeySchema, maximumFields } from './run-fields.ts';

/** Groups of one answer. */
export const maximumGroups = 500;

/** Which runs are grouped, by what, and the fields that each group sums up. The query's order is that of the groups. */
export const groupRequestSchema = z.strictObject({
  query: runQuerySchema.omit({ offset: true, limit: true, fields: true, group: true, isGrouped: true }),
  by: groupKeySchema,
  fields: z.array(fieldSchema).max(maximumFields),
});
export type GroupRequest = z.output<typeof groupRequestSchema>;

/** The runs that share a value. */
export interface RunGroup {
  /** Null: the runs without a value. */
  value: FieldValue | null;
  /** The title on pages: the name of a sweep, else the value. */
  label: string;
  runs: number;
  active: number;
  /** Runs that have finished: only these count in means. */
  finished: number;
  /**
   * The best value of the monitored metric; `mixed` where the runs monitor several metrics, whose mean would mean
   * nothing.
   */
  best: ({ metric: string } & Estimate) | 'mixed' | null;
  /** Time that the finished runs trained, in seconds. */
  duration: Estimate;
  members: FieldSummary;
  /** Creation of the newest run. */
  newest: string;
  /** The values, in the order of the request's fields. */
  values: FieldSummary[];
}

export interface RunGroups {
  /** The groups, at most {@link maximumGroups}. */
  groups: RunGroup[];
  /** Number of groups. */
  total: number;
}

/** A field that a list can show, over the newest runs that match. */
export interface KnownField {
  field: string;
  /** Whether the runs differ in it. */
  differs: boolean;
  isNumber: boolean;
}

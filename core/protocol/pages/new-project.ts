import { z } from 'zod';
import { plannedTasks } from '../../preprocessing/plans/planned-task.ts';
import { columnRoles } from '../../preprocessing/plans/project-plan.ts';
import { type FileProfile, inspectTaskSchema } from '../run/inspect-task.ts';

/** What a page asks about a file of data, and what it has written as a project. */

/** A file of data: where it lies on the machine that runs Tutti, or the name under which the page has sent it. */
export const dataFileSchema = z.union([
  z.strictObject({ path: z.string().min(1) }),
  z.strictObject({ upload: z.uuid() }),
]);
export type DataFile = z.output<typeof dataFileSchema>;

export const inspectionSchema = inspectTaskSchema.omit({ path: true }).extend({ file: dataFileSchema });
/** A file, and how it is to be understood. */
export type Inspection = z.output<typeof inspectionSchema>;

export interface Inspected {
  profile: FileProfile;
  /** An absolute path where the project may go: it does not exist yet. */
  folder: string;
}

export const newProjectSchema = inspectionSchema.extend({
  /** An absolute path of a new or an empty folder. */
  folder: z.string().min(1),
  task: z.enum(plannedTasks).optional(),
  /** What columns are for, where the user decided. */
  roles: z.record(z.string(), z.enum(columnRoles)),
});
/** A project that is to be written from a file. */
export type NewProject = z.output<typeof newProjectSchema>;

import { z } from 'zod';
import { imageProfileSchema } from '../../preprocessing/image-profile.ts';
import { type Finding, type TableProfile, tableProfileSchema } from '../../preprocessing/profile.ts';
import { type ColumnRole, noFeatures } from '../../preprocessing/plans/project-plan.ts';
import { columnTypeSchema, dateFormats, delimiterSchema, usualMissingValues } from '../../preprocessing/reading.ts';
import { splitAnswers } from '../../preprocessing/split-column.ts';

const decimalSchema = z.enum(['.', ',']);
const dateFormatSchema = z.enum(dateFormats);

/** How the user says that a table is read; what is absent is found out. */
export const readingOptionsSchema = z.strictObject({
  delimiter: delimiterSchema.optional(),
  header: z.boolean().optional(),
  commentLines: z.int().min(0).optional(),
  encoding: z.string().optional(),
  /** What to read of a workbook: the sheet's name, or its position from 1; and the table's cells, as `B3:F200`. */
  sheet: z.string().optional(),
  range: z.string().optional(),
  /** One sign, or one format, for all columns, or one for each by name. */
  decimal: z.union([decimalSchema, z.record(z.string(), decimalSchema)]).optional(),
  dateFormat: z.union([dateFormatSchema, z.record(z.string(), dateFormatSchema)]).optional(),
  /** Columns of categories in which the case of letters makes no difference. */
  ignoreCase: z.array(z.string()).optional(),
  missingValues: z.array(z.string()).optional(),
  /** Types by name; `ignore` leaves a column out. */
  columns: z.record(z.string(), z.enum([...columnTypeSchema.options, 'ignore'])).optional(),
  /** The value that becomes 255 in images of more than 8 bits. */
  maximum: z.number().positive().optional(),
  /** The folder of the images that a column of a table names; that of the table by default. */
  images: z.string().optional(),
  /** What folders of images are, or the values of a column of splits, by name, where their names do not tell. */
  splitFolders: z.record(z.string(), z.enum(splitAnswers)).optional(),
});
export type ReadingOptions = z.output<typeof readingOptionsSchema>;

/** Roles that describe the table as a whole. */
const describing = ['time', 'image', 'split'] as const;

/**
 * How a table is understood where columns have these roles: a role that is a type is the column's type, the names of
 * images and splits are no numbers, and other roles describe the table.
 */
export function understandingWith(
  reading: ReadingOptions,
  roles: Readonly<Record<string, ColumnRole>>,
): Pick<InspectTask, 'reading' | 'furtherTargets' | (typeof describing)[number]> {
  const types = Object.entries(roles).flatMap(([name, role]) => {
    if (role === 'image' || role === 'split') return [[name, 'category']];
    return role === 'ignore' || !noFeatures.includes(role) ? [[name, role]] : [];
  });
  const columns = { ...reading.columns, ...Object.fromEntries(types) };
  const described = describing.flatMap((role) => namesWith(roles, role).map((name) => [role, name]));
  const furtherTargets = namesWith(roles, 'target');
  return {
    reading: readingOptionsSchema.parse({ ...reading, columns }),
    ...Object.fromEntries(described),
    ...(furtherTargets.length > 0 && { furtherTargets }),
  };
}

function namesWith(roles: Readonly<Record<string, ColumnRole>>, role: ColumnRole): string[] {
  return Object.keys(roles).filter((name) => roles[name] === role);
}

/** The task of the process that inspects a file of data (`workers/entries/inspect.ts`). */
export const inspectTaskSchema = z.strictObject({
  /** An absolute path. */
  path: z.string(),
  /** The column to predict; absent: one is proposed. */
  target: z.string().optional(),
  /** Columns to predict beside it; absent: none. */
  furtherTargets: z.array(z.string()).optional(),
  /** The column of the time; absent: one is proposed where rows are the steps of a series. */
  time: z.string().optional(),
  /** The column that names images; absent: one whose values end so. */
  image: z.string().optional(),
  /** The column that says the split of each row or image; absent: one whose values are called so. */
  split: z.string().optional(),
  reading: readingOptionsSchema,
});
export type InspectTask = z.output<typeof inspectTaskSchema>;

/** What is in a file. */
export const fileProfileSchema = z.discriminatedUnion('kind', [tableProfileSchema, imageProfileSchema]);
export type FileProfile = z.output<typeof fileProfileSchema>;

export type InspectReply =
  { type: 'inspected'; profile: FileProfile } | { type: 'failed'; message: string; stack: string };

/** What comes before the reply. */
export const inspectProgressSchema = z.object({
  /** What is done now, for people: `35 % read`. */
  doing: z.string(),
  /** What the rows at the beginning of a large file show; null: nothing new. */
  sample: fileProfileSchema.nullable(),
});
export type InspectProgress = z.output<typeof inspectProgressSchema>;

/** The profile of the table, where there is one. */
export const tableOf = (profile: FileProfile): TableProfile | null =>
  profile.kind === 'table' ? profile : (profile.table?.profile ?? null);

/**
 * The options with which a question has an answer.
 * @param choice one of the finding's choices, or another encoding
 * @throws Error for a choice that the question does not have
 */
export function answered(
  reading: ReadingOptions,
  { finding: { kind, column }, profile }: { finding: Finding; profile: FileProfile },
  choice: string,
): ReadingOptions {
  const name = column ?? '';
  const missing = reading.missingValues ?? usualMissingValues;
  const changed = (change: object): ReadingOptions => readingOptionsSchema.parse({ ...reading, ...change });
  switch (kind) {
    case 'encoding':
      return changed({ encoding: choice });
    case 'sheet':
      return changed({ sheet: choice });
    case 'range':
      return changed({ range: choice });
    case 'header':
      return changed({ header: choice === 'true' });
    case 'number-format':
      return changed({ decimal: { ...byName(reading.decimal), [name]: choice } });
    case 'date-format':
      return changed({ dateFormat: { ...byName(reading.dateFormat), [name]: choice } });
    case 'depth':
      return changed({ maximum: Number(choice) });
    case 'splits':
      return changed({ splitFolders: { ...reading.splitFolders, [name]: choice } });
    case 'sentinel':
      return changed({ missingValues: [...new Set([...missing, choice])] });
    case 'spellings':
      return changed({ ignoreCase: [...new Set([...(reading.ignoreCase ?? []), name])] });
    case 'missing-texts':
      return changed({ missingValues: missing.filter((text) => text !== choice) });
    default: {
      if (choice !== 'missing') return changed({ columns: { ...reading.columns, [name]: choice } });
      const own = tableOf(profile)?.columns.find((one) => one.name === name);
      const texts = own?.misfits.map(({ text }) => text) ?? [];
      return changed({ missingValues: [...new Set([...missing, ...texts])] });
    }
  }
}

const byName = <T extends object>(option: string | T | undefined): T | undefined =>
  typeof option === 'string' ? undefined : option;

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tableProfileSchema, type TableProfile } from '../../../core/preprocessing/profile.ts';
import { profileTable } from '../../../workers/data/tables/profile-table.ts';
import { parseTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import { temporaryFolder } from './temp-folder.ts';

/** Name, type and values of each column. */
export async function columnsOf(bytes: Buffer, options: ReadTableOptions = {}): Promise<unknown[]> {
  const { columns } = await parseTable(bytes, 'd.xlsx', options);
  return columns.map(({ name, type, values }) => [name, type, [...values]]);
}

/** The path of a file with these bytes. */
export async function fileOf(bytes: Buffer, name = 'd.xlsx'): Promise<string> {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, bytes);
  return file;
}

/** What an inspection says of a workbook. */
export async function profileOf(
  bytes: Buffer,
  options: Parameters<typeof profileTable>[1] = {},
): Promise<TableProfile> {
  return tableProfileSchema.parse(await profileTable(await fileOf(bytes), options));
}

/** A date as columns hold it. */
export const daysTo = (year: number, month: number, day: number): number => Date.UTC(year, month, day) / 86_400_000;
/** The findings of a kind. */
export const about = ({ findings }: TableProfile, kind: string) => findings.filter((own) => own.kind === kind);

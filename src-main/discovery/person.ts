import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Belief } from '../../core/discovery/belief.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { explainFileError } from '../../core/node/file-error.ts';
import type { Pool } from '../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { labelOf, textsOf } from './oracles.ts';
import { searchPaths } from './search-folder.ts';

/** Writes what a person is to label: a CSV file with an empty column `label`. @returns its path */
export async function writeQuestion(
  folder: string,
  name: string,
  pool: Pool,
  indices: readonly number[],
  belief: Pick<Belief, 'mean' | 'deviation'> | null,
): Promise<string> {
  const columns = Object.keys(pool.texts);
  const header = ['index', ...columns, ...(belief === null ? [] : ['predicted', 'deviation']), 'label'];
  const rows = indices.map((index) => {
    const predicted =
      belief === null ? [] : [belief.mean[index].toPrecision(6), belief.deviation[index].toPrecision(6)];
    const texts = textsOf(pool, index);
    return [String(index), ...columns.map((column) => texts[column]), ...predicted, ''];
  });
  const path = join(searchPaths(folder).questions, `${name}.csv`);
  await writeFileAsOnlyWriter(path, `${[header, ...rows].map((row) => row.map(quoted).join(',')).join('\n')}\n`);
  return path;
}

/** Labels from a CSV file with the columns `index` and `label`. Rows without a label are left out. @throws Error that names the row */
export async function readAnswers(path: string, pool: Pool): Promise<Map<number, number>> {
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    throw explainFileError(error, path, 'read');
  });
  const rows = parseRows(content, path);
  const found = new Map<number, number>();
  rows.forEach(({ index, label }, at) => {
    if (index === undefined || label === undefined) {
      throw new Error(
        `${path} has no columns index and label. Fill the column label of the file that the search wrote.`,
      );
    }
    if (label.trim() === '') return;
    const candidate = Number(index);
    if (!Number.isInteger(candidate) || candidate < 0 || candidate >= pool.samples) {
      throw new Error(
        `${path}, row ${at + 2}: "${index}" is no candidate of the pool, which has 0 to ${pool.samples - 1}. Keep the column index as it was.`,
      );
    }
    try {
      found.set(candidate, labelOf(label.trim(), pool));
    } catch (error) {
      throw new Error(`${path}, row ${at + 2}: ${messageOf(error)}. Correct the label.`, { cause: error });
    }
  });
  return found;
}

function parseRows(content: string, path: string): Partial<Record<'index' | 'label', string>>[] {
  try {
    return parse(content, { columns: true, bom: true, skip_empty_lines: true });
  } catch (error) {
    throw new Error(`${path} is no CSV file: ${messageOf(error)}. Keep the form of the file that the search wrote.`, {
      cause: error,
    });
  }
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

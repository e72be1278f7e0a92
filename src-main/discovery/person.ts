import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { predictedLabel } from '../../core/discovery/calibration.ts';
import type { ArmChoice, SearchGoal } from '../../core/discovery/search.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { readUserText } from '../../core/node/read-lines.ts';
import type { Pool } from '../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { labelOf, textsOf } from './oracles.ts';
import { searchPaths } from './search-folder.ts';

/** Candidates that a person is to label. */
export interface Question {
  indices: readonly number[];
  /** What is predicted of each, as a label; null where nothing is. */
  predicted: ReadonlyMap<number, { mean: number; deviation: number }> | null;
}

/** What a choice predicted of its candidates. */
export function predictedIn(
  { indices, means, deviations }: Pick<ArmChoice, 'indices' | 'means' | 'deviations'>,
  goal: SearchGoal,
): NonNullable<Question['predicted']> {
  return new Map(
    indices.map((index, at) => [index, { mean: predictedLabel(goal, means[at]), deviation: deviations[at] }]),
  );
}

/** Writes what a person is to label: a CSV file with an empty column `label`. @returns its path */
export async function writeQuestion(folder: string, name: string, pool: Pool, question: Question): Promise<string> {
  const path = join(searchPaths(folder).questions, `${name}.csv`);
  await writeFileAsOnlyWriter(path, questionCsv(pool, question));
  return path;
}

/** The question as a CSV file: the column `index`, the texts, what is predicted, and an empty column `label`. */
export function questionCsv(pool: Pool, { indices, predicted }: Question): string {
  const columns = Object.keys(pool.texts);
  const header = ['index', ...columns, ...(predicted === null ? [] : ['predicted', 'deviation']), 'label'];
  const rows = indices.map((index) => {
    const { mean = NaN, deviation = NaN } = predicted?.get(index) ?? {};
    const numbers = predicted === null ? [] : [mean.toPrecision(6), deviation.toPrecision(6)];
    const texts = textsOf(pool, index);
    return [String(index), ...columns.map((column) => texts[column]), ...numbers, ''];
  });
  return `${[header, ...rows].map((row) => row.map(quoted).join(',')).join('\n')}\n`;
}

/** Labels from a CSV file, as {@link parseAnswers} reads them. */
export async function readAnswers(path: string, pool: Pool): Promise<Map<number, number>> {
  return parseAnswers(await readUserText(path, 'read'), path, pool);
}

/**
 * Labels from CSV with the columns `index` and `label`. Rows without a label are left out.
 * @param path names the file in errors
 * @throws Error that names the row
 */
export function parseAnswers(content: string, path: string, pool: Pool): Map<number, number> {
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
        `${path}, row ${at + 2}: "${index}" is no candidate of the pool, which has 0 to ${pool.samples - 1}. ` +
          'Keep the column index as it was.',
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

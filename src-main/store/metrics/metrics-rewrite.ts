import { type FileHandle, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flushFolder, linkExclusively, replaceFile, writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { readPortions } from '../../../core/node/read-lines.ts';
import { explainFileError, unlessMissing } from '../../../core/node/file-error.ts';
import { formatHeader, parseHeader } from './metrics-csv.ts';

const chunkCharacters = 65_536;

/** What a reading of `metrics.csv` from start to end found. */
interface Findings {
  metrics: string[];
  /** Bytes of the whole lines; 0 without a whole header. */
  wholeBytes: number;
  /** Whether there are rows beyond the step. */
  hasLaterRows: boolean;
}

/**
 * Keeps only complete rows of `metrics.csv` up to a step; the old file is kept as the first free `<name>.attempt-<n>.csv` if that drops
 * rows. Creates the file if there is none. Reads in pieces, so that the size of the file does not matter.
 * @returns its metrics
 */
export async function repairMetrics(path: string, lastStep: number): Promise<string[]> {
  const file = await unlessMissing(open(path, 'r'));
  if (file === null) return createMetrics(path);
  try {
    const { size, nlink } = await file.stat();
    const { metrics, wholeBytes, hasLaterRows } = await inspect(file, path, lastStep);
    if (wholeBytes === 0) return await createMetrics(path);
    const keeps = (row: string): boolean => stepIn(row) <= lastStep;
    const rewrite = () => copyLines(file, wholeBytes, path, (row, number) => (number === 1 || keeps(row) ? row : null));
    if (hasLaterRows) await keepCopy(path);
    // The file has a second name here, too, where a crash came between naming the copy and replacing the file.
    if (hasLaterRows || nlink > 1) await rewrite();
    else if (wholeBytes < size) await truncate(path, wholeBytes);
    return metrics;
  } finally {
    await file.close();
  }
}

/** Rewrites the first `bytes` of `metrics.csv` (whole lines) under a new header, with empty cells for the added metrics. */
export async function widenMetrics(path: string, bytes: number, metrics: string[], addedCount: number): Promise<void> {
  const header = formatHeader(metrics).trimEnd();
  const emptyCells = ','.repeat(addedCount);
  const file = await open(path, 'r').catch((error: unknown) => {
    throw explainFileError(error, path, 'write');
  });
  try {
    await copyLines(file, bytes, path, (row, number) => (number === 1 ? header : row + emptyCells));
  } finally {
    await file.close();
  }
}

async function createMetrics(path: string): Promise<string[]> {
  await writeFileAtomic(path, formatHeader([]));
  return [];
}

async function inspect(file: FileHandle, path: string, lastStep: number): Promise<Findings> {
  const found: Findings = { metrics: [], wholeBytes: 0, hasLaterRows: false };
  for await (const { lines, to } of readPortions(file, 0)) {
    const rows = found.wholeBytes === 0 ? lines.slice(1) : lines;
    if (found.wholeBytes === 0) found.metrics = parseHeader(lines[0], path);
    found.hasLaterRows ||= !rows.every((row) => stepIn(row) <= lastStep);
    found.wholeBytes = to;
  }
  return found;
}

/** The step of a row, which may be damaged: NaN without one. */
function stepIn(row: string): number {
  return Number(row.split(',', 2)[1]);
}

/** Replaces `path` with the lines in the first `bytes` of a file, as `change` returns them; null: without the line. */
async function copyLines(
  file: FileHandle,
  bytes: number,
  path: string,
  change: (line: string, number: number) => string | null,
): Promise<void> {
  await replaceFile(path, async (into) => {
    let chunk = '';
    let number = 0;
    for await (const { lines } of readPortions(file, 0, bytes)) {
      for (const line of lines) {
        const changed = change(line, (number += 1));
        if (changed !== null) chunk += `${changed}\n`;
      }
      if (chunk.length < chunkCharacters) continue;
      await into.appendFile(chunk);
      chunk = '';
    }
    await into.appendFile(chunk);
  });
}

/**
 * Keeps the present file as the first free `<name>.attempt-<n>.csv`. A second name takes no space: the caller replaces the file rather
 * than changing it.
 */
async function keepCopy(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await linkExclusively(path, path.replace(/\.csv$/, `.attempt-${attempt}.csv`))) break;
  }
  // The new name must be on the disk before the old one goes to another file.
  await flushFolder(dirname(path));
}

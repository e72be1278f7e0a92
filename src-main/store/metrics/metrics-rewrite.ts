import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { linkExclusively } from '../../../core/node/atomic-file.ts';
import { flushFolder } from '../../../core/node/make-folder.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { replaceOwnFile, writeOwnFile } from '../../../core/node/own-folders.ts';
import { readPortions } from '../../../core/node/read-lines.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { formatHeader, parseHeader } from './metrics-csv.ts';

const chunkCharacters = 65_536;

/** The rows that a resumed run keeps: it computes all others again. */
export interface KeptRows {
  /** The last step of them. */
  step: number;
  /** Number of the first rows that may be among them. */
  rows: number;
}

export const allRows: KeptRows = { step: Infinity, rows: Infinity };

/** What a reading of `metrics.csv` from start to end found. */
interface Findings {
  metrics: string[];
  /** Bytes of the whole lines; 0 without a whole header. */
  wholeBytes: number;
  /** Number of rows, and of those to keep. */
  rows: number;
  keptRows: number;
}

/**
 * Keeps only complete rows of `metrics.csv`, and of those the given ones; the old file is kept as the first free
 * `<name>.attempt-<n>.csv` if that drops rows. Creates the file if there is none. Reads in pieces, so that the size of
 * the file does not matter.
 * @returns its metrics and the number of its rows
 */
export async function repairMetrics(path: string, kept: KeptRows): Promise<{ metrics: string[]; rows: number }> {
  const file = await openIfAny(path);
  if (file === null) return createMetrics(path);
  try {
    const { size, nlink } = await file.stat();
    const { metrics, wholeBytes, rows, keptRows } = await inspect(file, path, kept);
    if (wholeBytes === 0) return await createMetrics(path);
    const rewrite = () =>
      copyLines(file, wholeBytes, path, (line, number) =>
        number === 1 || isKept(line, number - 1, kept) ? line : null,
      );
    const hasLaterRows = keptRows < rows;
    if (hasLaterRows) await keepCopy(path);
    // The file has a second name here, too, where a crash came between naming the copy and replacing the file.
    if (hasLaterRows || nlink > 1) await rewrite();
    else if (wholeBytes < size) await cutAt(path, wholeBytes);
    return { metrics, rows: keptRows };
  } finally {
    await file.close();
  }
}

/**
 * Writes the given rows of one `metrics.csv` into another.
 * @returns the number of rows written
 */
export async function copyMetrics(from: string, to: string, kept: KeptRows): Promise<number> {
  const file = await openIfAny(from);
  if (file === null) return (await createMetrics(to)).rows;
  try {
    const { wholeBytes, keptRows } = await inspect(file, from, kept);
    if (wholeBytes === 0) return (await createMetrics(to)).rows;
    await copyLines(file, wholeBytes, to, (line, number) =>
      number === 1 || isKept(line, number - 1, kept) ? line : null,
    );
    return keptRows;
  } finally {
    await file.close();
  }
}

/**
 * Rewrites the first `bytes` of `metrics.csv` (whole lines) under a new header, with empty cells for the added metrics.
 */
export async function widenMetrics(path: string, bytes: number, metrics: string[], addedCount: number): Promise<void> {
  const header = formatHeader(metrics).trimEnd();
  const emptyCells = ','.repeat(addedCount);
  const file = await openOwnFile(dirname(path), basename(path), 'read', 'write');
  try {
    await copyLines(file, bytes, path, (row, number) => (number === 1 ? header : row + emptyCells));
  } finally {
    await file.close();
  }
}

function openIfAny(path: string): Promise<FileHandle | null> {
  return unlessMissing(openOwnFile(dirname(path), basename(path)));
}

async function cutAt(path: string, bytes: number): Promise<void> {
  const file = await openOwnFile(dirname(path), basename(path), 'extend');
  await file.truncate(bytes).finally(() => file.close());
}

async function createMetrics(path: string): Promise<{ metrics: string[]; rows: number }> {
  await writeOwnFile(dirname(path), basename(path), formatHeader([]));
  return { metrics: [], rows: 0 };
}

async function inspect(file: FileHandle, path: string, kept: KeptRows): Promise<Findings> {
  const found: Findings = { metrics: [], wholeBytes: 0, rows: 0, keptRows: 0 };
  for await (const { lines, to } of readPortions(file, 0)) {
    const rows = found.wholeBytes === 0 ? lines.slice(1) : lines;
    if (found.wholeBytes === 0) found.metrics = parseHeader(lines[0], path);
    for (const row of rows) if (isKept(row, (found.rows += 1), kept)) found.keptRows += 1;
    found.wholeBytes = to;
  }
  return found;
}

/** @param number of the row, from 1. A damaged row has no step and is not kept. */
function isKept(row: string, number: number, { step, rows }: KeptRows): boolean {
  return number <= rows && Number(row.split(',', 2)[1]) <= step;
}

/** Replaces `path` with the lines in the first `bytes` of a file, as `change` returns them; null: without the line. */
async function copyLines(
  file: FileHandle,
  bytes: number,
  path: string,
  change: (line: string, number: number) => string | null,
): Promise<void> {
  await replaceOwnFile(dirname(path), basename(path), async (into) => {
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
 * Keeps the present file as the first free `<name>.attempt-<n>.csv`. A second name takes no space: the caller replaces
 * the file rather than changing it.
 */
async function keepCopy(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if (await linkExclusively(path, path.replace(/\.csv$/, `.attempt-${attempt}.csv`))) break;
  }
  // The new name must be on the disk before the old one goes to another file.
  await flushFolder(dirname(path));
}

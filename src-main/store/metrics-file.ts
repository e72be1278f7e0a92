import { constants } from 'node:fs';
import { copyFile, open, readFile, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { replaceFile, writeFileAtomic } from './atomic-file.ts';
import { errorCode, explainFileError } from './file-error.ts';
import type { Position } from './metric-table.ts';
import { formatHeader, formatNumber, formatRow, parseHeader } from './metrics-csv.ts';

/** Values of one (epoch, step), by metric. */
export interface MetricRow extends Position {
  values: Map<string, number>;
}

const CHUNK_CHARACTERS = 65_536;

/**
 * `metrics.csv`, open for appending. Every row in it is whole and as wide as its header: what a crash cut short is removed
 * on opening, a write that fails is taken back, and a new metric rewrites the file aside with one more column.
 */
export class MetricsFile {
  readonly #path: string;
  #metrics: string[];
  #handle: FileHandle;
  /** Length of what was appended whole; a write that failed may have left more. */
  #bytes: number;
  #isTorn = false;

  private constructor(path: string, metrics: string[], handle: FileHandle, bytes: number) {
    this.#path = path;
    this.#metrics = metrics;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /**
   * Opens or creates the file.
   * @param resumeAfterStep drop the rows beyond this step, which a resumed run is about to compute again; the file as it was
   *   is kept beside as `metrics.attempt-<n>.csv`
   */
  static async open(path: string, resumeAfterStep: number = Infinity): Promise<MetricsFile> {
    try {
      const metrics = await repair(path, resumeAfterStep);
      const handle = await open(path, 'a');
      return new MetricsFile(path, metrics, handle, (await handle.stat()).size);
    } catch (error) {
      throw explainFileError(error, path, 'open');
    }
  }

  /** Appends the rows, all or, when it throws, none: they can be appended again. */
  async append(rows: readonly MetricRow[]): Promise<void> {
    await this.#takeBackTorn();
    const known = new Set(this.#metrics);
    const added = new Set(rows.flatMap((row) => [...row.values.keys()]).filter((metric) => !known.has(metric)));
    if (added.size > 0) await this.#widen([...added]);
    const text = rows.map((row) => this.#format(row)).join('');
    this.#isTorn = true;
    try {
      await this.#handle.appendFile(text);
    } catch (error) {
      throw explainFileError(error, this.#path, 'append to');
    }
    this.#isTorn = false;
    this.#bytes += Buffer.byteLength(text);
  }

  /** Returns when everything appended would survive a power cut. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    try {
      await this.#takeBackTorn();
    } finally {
      await this.#handle.close();
    }
  }

  async #takeBackTorn(): Promise<void> {
    if (!this.#isTorn) return;
    await this.#handle.truncate(this.#bytes);
    this.#isTorn = false;
  }

  #format(row: MetricRow): string {
    const cells = this.#metrics.map((metric) => {
      const value = row.values.get(metric);
      return value === undefined ? '' : formatNumber(value);
    });
    return formatRow(row.epoch, row.step, cells);
  }

  async #widen(added: string[]): Promise<void> {
    const metrics = [...this.#metrics, ...added];
    // Windows does not rename over a file that is open.
    await this.#handle.close();
    try {
      await replaceFile(this.#path, (aside) => copyWidened(this.#path, aside, formatHeader(metrics), added.length));
      this.#metrics = metrics;
    } finally {
      this.#handle = await open(this.#path, 'a');
    }
    this.#bytes = (await this.#handle.stat()).size;
  }
}

async function copyWidened(path: string, into: FileHandle, header: string, addedCount: number): Promise<void> {
  const emptyCells = ','.repeat(addedCount);
  const source = await open(path, 'r');
  let chunk = header;
  let isHeader = true;
  for await (const line of source.readLines()) {
    if (!isHeader) chunk += `${line}${emptyCells}\n`;
    isHeader = false;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    await into.appendFile(chunk);
    chunk = '';
  }
  await into.appendFile(chunk);
}

/** Leaves only whole rows up to the step in the file, creating it where there is none. @returns its metrics */
async function repair(path: string, lastStep: number): Promise<string[]> {
  const content = await readIfPresent(path);
  const wholeBytes = content.lastIndexOf('\n') + 1;
  if (wholeBytes === 0) {
    await writeFileAtomic(path, formatHeader([]));
    return [];
  }
  const [header = '', ...rows] = content.toString('utf8', 0, wholeBytes - 1).split('\n');
  const metrics = parseHeader(header, path);
  const kept = rows.filter((row) => Number(row.split(',', 2)[1]) <= lastStep);
  if (kept.length < rows.length) {
    await keepCopy(path);
    await writeFileAtomic(path, [header, ...kept, ''].join('\n'));
  } else if (wholeBytes < content.length) {
    await truncate(path, wholeBytes);
  }
  return metrics;
}

async function readIfPresent(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Copies the file to the first free `<name>.attempt-<n>.csv`. */
async function keepCopy(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = path.replace(/\.csv$/, `.attempt-${attempt}.csv`);
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

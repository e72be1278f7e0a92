import { constants } from 'node:fs';
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { replaceFile, writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import type { Position } from './metric-table.ts';
import { formatHeader, formatNumber, formatRow, parseHeader } from './metrics-csv.ts';

/** Values of one (epoch, step), by metric. */
export interface MetricRow extends Position {
  values: Map<string, number>;
}

const CHUNK_CHARACTERS = 65_536;

/**
 * Appends to `metrics.csv`. Every row is complete and as wide as the header: opening removes a row that a crash cut short, a write
 * removes the remains of a failed write, and a new metric rewrites the file with one more column. The file is closed between the few
 * writes, so that it can be replaced on every system.
 */
export class MetricsFile {
  readonly #path: string;
  #metrics: string[];
  /** Bytes of the complete rows. A failed write may have left more. */
  #bytes: number;

  private constructor(path: string, metrics: string[], bytes: number) {
    this.#path = path;
    this.#metrics = metrics;
    this.#bytes = bytes;
  }

  /**
   * Opens or creates the file.
   * @param resumeAfterStep drop the rows beyond this step, which a resumed run computes again; the old file is kept as
   *   `metrics.attempt-<n>.csv`
   */
  static async open(path: string, resumeAfterStep: number = Infinity): Promise<MetricsFile> {
    try {
      const metrics = await repair(path, resumeAfterStep);
      return new MetricsFile(path, metrics, (await stat(path)).size);
    } catch (error) {
      throw explainFileError(error, path, 'open');
    }
  }

  /** Appends all rows, or none if it throws; they can then be appended again. */
  async append(rows: readonly MetricRow[]): Promise<void> {
    const known = new Set(this.#metrics);
    const added = new Set(rows.flatMap((row) => [...row.values.keys()]).filter((metric) => !known.has(metric)));
    if (added.size > 0) await this.#widen([...added]);
    const text = rows.map((row) => this.#format(row)).join('');
    await this.#withHandle(async (handle) => {
      if ((await handle.stat()).size > this.#bytes) await handle.truncate(this.#bytes);
      await handle.appendFile(text);
    });
    this.#bytes += Buffer.byteLength(text);
  }

  /** Resolves once all appended rows would survive a power cut. */
  async sync(): Promise<void> {
    await this.#withHandle((handle) => handle.sync());
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
    const whole = { path: this.#path, bytes: this.#bytes };
    await replaceFile(this.#path, (aside) => copyWidened(whole, aside, formatHeader(metrics), added.length));
    this.#metrics = metrics;
    this.#bytes = (await stat(this.#path)).size;
  }

  async #withHandle(action: (handle: FileHandle) => Promise<void>): Promise<void> {
    try {
      // Without O_CREAT, because a removed file must not come back without its header.
      const handle = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
      try {
        await action(handle);
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw explainFileError(error, this.#path, 'append to');
    }
  }
}

/** Copies the first `bytes` of the file (whole lines) under a new header, with empty cells for the added metrics. */
async function copyWidened(
  file: { path: string; bytes: number },
  into: FileHandle,
  header: string,
  addedCount: number,
): Promise<void> {
  const emptyCells = ','.repeat(addedCount);
  const source = await open(file.path, 'r');
  try {
    let chunk = header;
    let isHeader = true;
    for await (const line of source.readLines({ end: file.bytes - 1, autoClose: false })) {
      if (!isHeader) chunk += `${line}${emptyCells}\n`;
      isHeader = false;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      await into.appendFile(chunk);
      chunk = '';
    }
    await into.appendFile(chunk);
  } finally {
    await source.close();
  }
}

/** Keeps only complete rows up to the step. Creates the file if there is none. @returns its metrics */
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

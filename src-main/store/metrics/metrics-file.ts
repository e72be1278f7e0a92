import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FileHandle } from 'node:fs/promises';
import { explainFileError } from '../../../core/node/file-error.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { formatNumber, formatRow, type Position } from './metrics-csv.ts';
import { allRows, type KeptRows, repairMetrics, widenMetrics } from './metrics-rewrite.ts';

/** Values of one (epoch, step), by metric. */
export interface MetricRow extends Position {
  values: Map<string, number>;
}

/**
 * Appends to `metrics.csv`. Every row is complete and as wide as the header: opening removes a row that a crash cut
 * short, a write removes the remains of a failed write, and a new metric rewrites the file with one more column. The
 * file is closed between the few writes, so that it can be replaced on every system.
 */
export class MetricsFile {
  readonly #path: string;
  #metrics: string[];
  /** Bytes of the complete rows. A failed write may have left more. */
  #bytes: number;
  #rows: number;

  private constructor(path: string, { metrics, rows }: { metrics: string[]; rows: number }, bytes: number) {
    this.#path = path;
    this.#metrics = metrics;
    this.#rows = rows;
    this.#bytes = bytes;
  }

  /**
   * Opens or creates the file.
   * @param kept drop the other rows, which a resumed run computes again; the old file is kept as
   * `metrics.attempt-<n>.csv`
   */
  static async open(path: string, kept: KeptRows = allRows): Promise<MetricsFile> {
    try {
      const repaired = await repairMetrics(path, kept);
      return new MetricsFile(path, repaired, (await stat(path)).size);
    } catch (error) {
      throw explainFileError(error, path, 'open');
    }
  }

  /** Number of complete rows. */
  get rows(): number {
    return this.#rows;
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
    this.#rows += rows.length;
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
    await widenMetrics(this.#path, this.#bytes, metrics, added.length);
    this.#metrics = metrics;
    this.#bytes = (await stat(this.#path)).size;
  }

  async #withHandle(action: (handle: FileHandle) => Promise<void>): Promise<void> {
    try {
      // Not created: a removed file must not come back without its header.
      const handle = await openOwnFile(dirname(this.#path), basename(this.#path), 'extend');
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

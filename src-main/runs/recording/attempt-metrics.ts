import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import type { MetricRow } from '../../store/metrics/metrics-file.ts';
import { MetricsLog } from '../../store/metrics/metrics-log.ts';
import type { RecordWrites } from './record-writes.ts';

/** Which rows of the metrics an attempt keeps from the one before. */
export interface KeptRows {
  /** Rows up to this step. */
  step: number;
  /** The most rows. */
  rows: number;
}

/** The metrics' file of a run, which every attempt opens again. Points that come before `open` are not recorded. */
export class AttemptMetrics {
  readonly #folder: string;
  readonly #writes: RecordWrites;
  #log: MetricsLog | null = null;
  #ranks: readonly number[] | null = null;

  constructor(folder: string, writes: RecordWrites) {
    this.#folder = folder;
    this.#writes = writes;
  }

  /** The ranks that report, once they are known. */
  get ranks(): readonly number[] | null {
    return this.#ranks;
  }

  /** Opens the file, and drops the rows that the ranks compute again. @param planned all ranks of the run */
  async open(planned: readonly number[], kept: KeptRows): Promise<void> {
    await this.close();
    const options = {
      ranks: [...planned],
      kept,
      onError: (error: unknown) => this.#writes.failed(error),
      whenThereIsRoom: (write: () => Promise<void>) => this.#writes.now(write),
    };
    this.#log = await this.#writes.now(() => MetricsLog.open(this.#folder, options));
    if (this.#ranks !== null) this.#log.setRanks(this.#ranks);
  }

  /** Sets the ranks that report from now on. A row waits only for these. */
  setRanks(ranks: readonly number[]): void {
    this.#ranks = ranks;
    this.#log?.setRanks(ranks);
  }

  /** Number of rows in the file. */
  get rows(): number {
    return this.#log?.rows ?? 0;
  }

  /** Appends rows that a damage took from the file. Call it before the ranks report. */
  async restore(rows: readonly MetricRow[]): Promise<void> {
    if (rows.length > 0) await this.#log?.restore(rows);
  }

  append(rank: number, batch: PointBatch): void {
    this.#log?.append(rank, batch);
  }

  /**
   * Resolves once all points so far are on disk, to the number of rows that hold them; to null if they could not be
   * written, and the `flush` of the writes then throws the error.
   */
  async keep(): Promise<number | null> {
    try {
      return (await this.#log?.flush()) ?? null;
    } catch (error) {
      this.#writes.failed(error);
      return null;
    }
  }

  /** The number of a rank's first points in this attempt that are in the file. */
  writtenPoints(rank: number): number {
    return this.#log?.writtenPoints(rank) ?? 0;
  }

  async close(): Promise<void> {
    await this.#log?.close();
  }

  /** Ends without another write. */
  discard(): void {
    this.#log?.discard();
  }
}

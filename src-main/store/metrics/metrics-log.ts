import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import { checkMetricName, comparePositions, type Position } from './metrics-csv.ts';
import { MetricsFile } from './metrics-file.ts';
import type { MetricRow } from './metrics-file.ts';
import type { KeptRows } from './metrics-rewrite.ts';
import { runPaths } from '../runs/run-folder.ts';

/** Time that a row waits for the values of slower ranks. */
const HOLD_MS = 5_000;
/** Interval of writes. One write takes the rows of all ranks. */
const WRITE_EVERY_MS = 200;

export interface LogClock {
  nowMs(): number;
  /** Calls `tick` at an interval. @returns a function that stops it */
  every(intervalMs: number, tick: () => void): () => void;
}

export interface MetricsLogOptions {
  /** Ranks that report. A row waits until all of them have passed it, but at most 5 s. */
  ranks: Iterable<number>;
  /** Called for a failed write between calls. No data are lost: `flush` and `close` try again. */
  onError: (error: unknown) => void;
  /** Drop the other rows, which a resumed run computes again. */
  kept?: KeptRows | undefined;
  clock?: LogClock;
  /** Repeats a write while the disk is full. Rows that come meanwhile stay in memory. Default: it fails. */
  whenThereIsRoom?: (write: () => Promise<void>) => Promise<void>;
}

interface HeldRow extends MetricRow {
  sinceMs: number;
  /** Number of points that each of its ranks had reported before its first one here. */
  before: Map<number, number>;
}

/**
 * Appends the points of all ranks to `metrics.csv`, one row per (epoch, step). A value that arrives after its row was
 * written gets a second row with the same key, which readers merge. The later of two values for one metric and key
 * counts.
 */
export class MetricsLog {
  readonly #file: MetricsFile;
  readonly #clock: LogClock;
  readonly #onError: (error: unknown) => void;
  readonly #stopTicking: () => void;
  readonly #held = new Map<string, HeldRow>();
  /** Furthest (epoch, step) that each rank has reported. */
  readonly #reached = new Map<number, Position>();
  /** Number of points that each rank has reported. */
  readonly #appended = new Map<number, number>();
  readonly #whenThereIsRoom: (write: () => Promise<void>) => Promise<void>;
  #ranks: number[];
  #ready: HeldRow[] = [];
  #writes: Promise<unknown> = Promise.resolve();
  #isWriting = false;
  #isClosed = false;

  private constructor(file: MetricsFile, options: MetricsLogOptions) {
    this.#file = file;
    this.#ranks = [...options.ranks];
    this.#onError = options.onError;
    this.#whenThereIsRoom = options.whenThereIsRoom ?? ((write) => write());
    this.#clock = options.clock ?? systemClock;
    this.#stopTicking = this.#clock.every(WRITE_EVERY_MS, () => this.#tick());
  }

  static async open(folder: string, options: MetricsLogOptions): Promise<MetricsLog> {
    return new MetricsLog(await MetricsFile.open(runPaths(folder).metrics, options.kept), options);
  }

  /** Sets the ranks that rows wait for: those of the present wave that have not left. */
  setRanks(ranks: Iterable<number>): void {
    this.#ranks = [...ranks];
  }

  /** @throws Error if a metric's name cannot be the header of a column; the whole batch is then rejected */
  append(rank: number, batch: PointBatch): void {
    if (this.#isClosed) throw new Error(`Rank ${rank} reported points after the metrics log was closed.`);
    batch.names.forEach(checkMetricName);
    for (let index = 0; index < batch.value.length; index += 1) {
      const position = { epoch: batch.epoch[index], step: batch.step[index] };
      const row = this.#row(position);
      const before = this.#appended.get(rank) ?? 0;
      if (!row.before.has(rank)) row.before.set(rank, before);
      row.values.set(batch.names[batch.nameIndex[index]], batch.value[index]);
      this.#appended.set(rank, before + 1);
      const reached = this.#reached.get(rank);
      if (reached === undefined || comparePositions(reached, position) < 0) this.#reached.set(rank, position);
    }
  }

  /**
   * Writes all values so far, even of incomplete rows. Resolves once they would survive a power cut.
   * @returns the number of rows that hold them: later values are in later rows
   */
  async flush(): Promise<number> {
    this.#release(() => true);
    const rows = await this.#write();
    await this.#file.sync();
    return rows;
  }

  /** Number of rows in the file. */
  get rows(): number {
    return this.#file.rows;
  }

  /** Appends rows that a damage took from the file. Call it before the ranks report. */
  async restore(rows: readonly MetricRow[]): Promise<void> {
    await this.#whenThereIsRoom(() => this.#file.append(rows));
  }

  /** Stops without writing the remaining values, because the run's folder is gone. */
  discard(): void {
    this.#isClosed = true;
    this.#stopTicking();
  }

  /** Writes the remaining values and accepts no more. Can be called again if it fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicking();
    await this.flush();
  }

  /**
   * The number of a rank's first points that are all in the file. They outlive this process, though not yet a power
   * cut.
   */
  writtenPoints(rank: number): number {
    const waiting = [...this.#held.values(), ...this.#ready].flatMap((row) => row.before.get(rank) ?? []);
    return Math.min(this.#appended.get(rank) ?? 0, ...waiting);
  }

  #row(position: Position): HeldRow {
    const key = `${position.epoch},${position.step}`;
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const row = {
      ...position,
      values: new Map<string, number>(),
      before: new Map<number, number>(),
      sinceMs: this.#clock.nowMs(),
    };
    this.#held.set(key, row);
    return row;
  }

  #tick(): void {
    // If the disk is slower than the ticks, the next rows are written together once it has caught up.
    if (this.#isWriting) return;
    const dueMs = this.#clock.nowMs() - HOLD_MS;
    this.#release((row) => row.sinceMs <= dueMs || this.#isPassed(row));
    this.#write().catch((error: unknown) => {
      this.#stopTicking();
      this.#onError(error);
    });
  }

  #isPassed(row: MetricRow): boolean {
    return this.#ranks.every((rank) => {
      const reached = this.#reached.get(rank);
      return reached !== undefined && comparePositions(row, reached) < 0;
    });
  }

  #release(isDue: (row: HeldRow) => boolean): void {
    const due = [...this.#held].filter(([, row]) => isDue(row));
    for (const [key] of due) this.#held.delete(key);
    this.#ready.push(...due.map(([, row]) => row).sort(comparePositions));
  }

  /** Writes the rows that are ready, after a running write. Rows that could not be written stay ready. */
  #write(): Promise<number> {
    const written = this.#writes.then(async () => {
      const count = this.#ready.length;
      if (count === 0) return this.#file.rows;
      this.#isWriting = true;
      try {
        const rows = this.#ready.slice(0, count);
        await this.#whenThereIsRoom(() => this.#file.append(rows));
        this.#ready.splice(0, count);
        return this.#file.rows;
      } finally {
        this.#isWriting = false;
      }
    });
    // The caller gets the error of this write; the next write must run anyway.
    this.#writes = written.catch(() => undefined);
    return written;
  }
}

const systemClock: LogClock = {
  nowMs: () => performance.now(),
  every(intervalMs, tick) {
    const timer = setInterval(tick, intervalMs);
    // A log must not keep a process alive.
    timer.unref();
    return () => clearInterval(timer);
  },
};

import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import { comparePositions } from './metric-table.ts';
import type { Position } from './metric-table.ts';
import { checkMetricName } from './metrics-csv.ts';
import { MetricsFile } from './metrics-file.ts';
import type { MetricRow } from './metrics-file.ts';
import { runPaths } from '../runs/run-folder.ts';

/** How long a row waits for the values of slower ranks. */
const HOLD_MS = 5_000;
/** Rows are written this often, together: one write serves all ranks. */
const WRITE_EVERY_MS = 200;

export interface LogClock {
  nowMs(): number;
  /** Calls `tick` every so often, until the function that it returns is called. */
  every(intervalMs: number, tick: () => void): () => void;
}

export interface MetricsLogOptions {
  /** Ranks that report: a row waits until each of them has passed it, or for 5 s. */
  ranks: Iterable<number>;
  /** Told of a write that failed between calls. Nothing is lost: `flush` and `close` try again. */
  onError: (error: unknown) => void;
  /** Drop the rows beyond this step: the run resumes there. */
  resumeAfterStep?: number | undefined;
  clock?: LogClock;
}

interface HeldRow extends MetricRow {
  sinceMs: number;
}

/**
 * Appends the points of all ranks to `metrics.csv`, one row per (epoch, step). A value that comes after its row was written
 * makes a second row of the same key, which readers merge; of two values for one metric and key the later one counts.
 */
export class MetricsLog {
  readonly #file: MetricsFile;
  readonly #clock: LogClock;
  readonly #onError: (error: unknown) => void;
  readonly #stopTicking: () => void;
  readonly #held = new Map<string, HeldRow>();
  /** Furthest (epoch, step) that each rank has reported. */
  readonly #reached = new Map<number, Position>();
  #ranks: number[];
  #ready: MetricRow[] = [];
  #writes: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isClosed = false;

  private constructor(file: MetricsFile, options: MetricsLogOptions) {
    this.#file = file;
    this.#ranks = [...options.ranks];
    this.#onError = options.onError;
    this.#clock = options.clock ?? systemClock;
    this.#stopTicking = this.#clock.every(WRITE_EVERY_MS, () => this.#tick());
  }

  static async open(folder: string, options: MetricsLogOptions): Promise<MetricsLog> {
    return new MetricsLog(await MetricsFile.open(runPaths(folder).metrics, options.resumeAfterStep), options);
  }

  /** Sets which ranks rows wait for: those of the wave that trains now, less those that have left. */
  setRanks(ranks: Iterable<number>): void {
    this.#ranks = [...ranks];
  }

  /** @throws Error when a metric's name cannot head a column; nothing of the batch is taken then */
  append(rank: number, batch: PointBatch): void {
    if (this.#isClosed) throw new Error(`Rank ${rank} reported points after the metrics log was closed.`);
    batch.names.forEach(checkMetricName);
    for (let index = 0; index < batch.value.length; index += 1) {
      const position = { epoch: batch.epoch[index], step: batch.step[index] };
      this.#row(position).values.set(batch.names[batch.nameIndex[index]], batch.value[index]);
      const reached = this.#reached.get(rank);
      if (reached === undefined || comparePositions(reached, position) < 0) this.#reached.set(rank, position);
    }
  }

  /** Writes every value reported so far, complete rows or not, and returns when it would survive a power cut. */
  async flush(): Promise<void> {
    this.#release(() => true);
    await this.#write();
    await this.#file.sync();
  }

  /** Writes what is left and takes no more. When that fails, it can be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicking();
    await this.flush();
  }

  #row(position: Position): HeldRow {
    const key = `${position.epoch},${position.step}`;
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const row = { ...position, values: new Map<string, number>(), sinceMs: this.#clock.nowMs() };
    this.#held.set(key, row);
    return row;
  }

  #tick(): void {
    // A disk slower than the ticks gets the next rows in one piece once it has caught up.
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

  /** Writes what is ready, after any write under way; rows that could not be written stay ready. */
  #write(): Promise<void> {
    const written = this.#writes.then(async () => {
      const rows = this.#ready;
      if (rows.length === 0) return;
      this.#isWriting = true;
      this.#ready = [];
      try {
        await this.#file.append(rows);
      } catch (error) {
        this.#ready = [...rows, ...this.#ready];
        throw error;
      } finally {
        this.#isWriting = false;
      }
    });
    // Whoever asked for this write learns of its failure; the next write must still be tried.
    this.#writes = written.catch(() => undefined);
    return written;
  }
}

const systemClock: LogClock = {
  nowMs: () => performance.now(),
  every(intervalMs, tick) {
    const timer = setInterval(tick, intervalMs);
    // A log must not keep a process alive that has nothing else to do.
    timer.unref();
    return () => clearInterval(timer);
  },
};

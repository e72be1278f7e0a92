import type { DeviceLoadColumns } from '../../core/protocol/machine/devices.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { type PointBatch, PointBuffer } from '../../core/protocol/wire/points.ts';
import { attemptsBegun, type RunEvent, type RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { DeviceLoadsTail } from '../store/metrics/device-loads.ts';
import { LineTail } from '../store/metrics/line-tail.ts';
import { type MetricColumn, RunColumns } from '../store/metrics/metric-column.ts';
import { readMetricsIndex, writeMetricsIndex } from '../store/index/metrics-index.ts';
import { MetricsTail } from '../store/metrics/metrics-tail.ts';
import { isOpen } from '../store/index/recovery.ts';
import { rowsKnownToStates, whyRowsAreLost } from '../store/runs/resume-point.ts';
import { parseEventLine, readRunRecord, runPaths } from '../store/runs/run-folder.ts';

/** Reading this much of `metrics.csv` takes a tenth of a second, so a smaller file needs no index. */
const indexedBytes = 4 * 2 ** 20;

/** Damaged rows of metrics that a page names. With more, the file as a whole is damaged. */
const shownDamages = 10;

/**
 * The data in memory of a run that a page shows. It comes from the run's folder, whichever process trains the run;
 * where this one does, new points come from its recorder, and their rows are not read.
 */
export class FollowedRun {
  readonly folder: string;
  readonly columns = new RunColumns();
  readonly events: RunEvent[] = [];
  readonly #eventWarnings: string[] = [];
  readonly #metricWarnings: string[] = [];
  #eventLines = 0;
  #record: RunRecord;
  /** Number of attempts that had begun when the folder was opened. */
  readonly #attemptsBegun: number;
  /** Whether there are points from the recorder, whose rows were not read. */
  #isAhead = false;
  readonly #metricsTail: MetricsTail;
  /** Points that were read since the last refresh. */
  readonly #newPoints = new PointBuffer();
  /** Bytes of `metrics.csv` that its index covers. */
  #indexedBytes = 0;
  readonly #eventsTail: LineTail;
  readonly #loadsTail: DeviceLoadsTail;
  /** The last reading. Readings run one after the other. */
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, record: RunRecord) {
    this.folder = folder;
    this.#record = record;
    this.#attemptsBegun = attemptsBegun(record);
    this.#metricsTail = new MetricsTail(folder);
    this.#eventsTail = new LineTail(runPaths(folder).events);
    this.#loadsTail = new DeviceLoadsTail(folder);
  }

  static async open(folder: string): Promise<FollowedRun> {
    const run = new FollowedRun(folder, await readRunRecord(folder));
    await run.#restore();
    await run.#readMetrics(null);
    await run.#readEvents();
    await run.#loadsTail.read();
    if (!isOpen(run.#record)) await run.#nameLostRows();
    return run;
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** Damaged parts of the folder that were skipped. */
  get warnings(): string[] {
    return [...this.#metricWarnings, ...this.#eventWarnings];
  }

  /** The loads of its devices over time. */
  get deviceLoads(): DeviceLoadColumns[] {
    return this.#loadsTail.columns;
  }

  /** Takes points from the recorder of this process, which has yet to write their rows. */
  take(batch: PointBatch): void {
    this.columns.append(batch);
    this.#isAhead = true;
  }

  /** Whether an attempt has begun since the folder was opened. It may have dropped rows of the metrics. */
  isBeforeAttempt(record: RunRecord): boolean {
    return attemptsBegun(record) > this.#attemptsBegun;
  }

  /**
   * Reads the data written since the last refresh.
   * @param isTold whether the recorder of this process still tells the points: then the metrics are not read
   * @returns the data as updates
   */
  refresh({ isTold = false } = {}): Promise<RunUpdate[]> {
    return this.#inTurn(() => this.#refresh(isTold));
  }

  /** Finds out in which bytes of the file the rows are whose points came from the recorder. */
  locateRows(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isAhead) await this.#readRows(null);
    });
  }

  /** Bytes to read for a range of steps. */
  bytesBetween(fromStep: number, toStep: number): number {
    return this.#metricsTail.bytesBetween(fromStep, toStep);
  }

  /** Reads all points of some metrics with steps in a range, both ends included, even if the columns were thinned. */
  readBetween(names: readonly string[], fromStep: number, toStep: number): Promise<Map<string, MetricColumn>> {
    return this.#inTurn(() => this.#readBetween(names, fromStep, toStep));
  }

  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const reading = this.#reading.then(read);
    // The caller gets the error of this reading; the next reading must run anyway.
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #readBetween(names: readonly string[], from: number, to: number): Promise<Map<string, MetricColumn>> {
    for (;;) {
      const found = await this.#metricsTail.readBetween(names, from, to);
      if (found !== null) return found;
      // The file was rewritten with more columns and possibly more rows.
      await this.#readRows(this.#newPoints);
    }
  }

  async #refresh(isTold: boolean): Promise<RunUpdate[]> {
    // The record comes first: if it says that the run has ended, all its metrics and events are already written.
    const record = await this.#readRecord();
    const events = await this.#readEvents();
    const samples = await this.#loadsTail.read();
    const known = this.#metricWarnings.length;
    if (!isTold) await this.#readMetrics(this.#newPoints);
    const points = this.#newPoints;
    return [
      ...events,
      ...this.#metricWarnings.slice(known).map((message) => ({ type: 'warning' as const, message })),
      ...samples.map((sample) => ({ type: 'device-loads' as const, ...sample })),
      // The file does not say which rank reported a point. The metric's name says what it belongs to.
      ...(points.length === 0 ? [] : [{ type: 'points' as const, rank: 0, batch: points.take() }]),
      ...(record === null ? [] : [this.#recordUpdate(record)]),
    ];
  }

  #recordUpdate(record: RunRecord): RunUpdate {
    return isOpen(record) ? { type: 'record', record, folder: this.folder } : { type: 'ended', record };
  }

  /** @returns null if the record is unchanged */
  async #readRecord(): Promise<RunRecord | null> {
    const record = await readRunRecord(this.folder);
    if (toJson(record) === toJson(this.#record)) return null;
    this.#record = record;
    return record;
  }

  async #readMetrics(fresh: PointBuffer | null): Promise<void> {
    await this.#readRows(fresh);
    this.#isAhead = false;
    const { state } = this.#metricsTail;
    const unindexedBytes = this.#metricsTail.bytes - this.#indexedBytes;
    // While a run grows, its index is written less and less often. The total cost is a few times its last size.
    const due = isOpen(this.#record) ? Math.max(indexedBytes, this.#indexedBytes / 2) : indexedBytes;
    // The index would hide the damaged rows from the next reader.
    if (state === null || unindexedBytes < due || this.#metricWarnings.length > 0) return;
    await writeMetricsIndex(this.folder, state, this.columns);
    this.#indexedBytes = state.bytes;
  }

  async #restore(): Promise<void> {
    const index = await readMetricsIndex(this.folder);
    if (index === null) return;
    this.#metricsTail.restore(index.tail);
    this.#indexedBytes = index.tail.bytes;
    for (const { name, column } of index.columns) this.columns.put(name, column);
  }

  async #readRows(fresh: PointBuffer | null): Promise<void> {
    let arePointsHere = this.#isAhead;
    await this.#metricsTail.read({
      point: (metric, epoch, step, value) => {
        if (arePointsHere) return;
        this.columns.set(metric, epoch, step, value);
        fresh?.add(metric, epoch, step, value);
      },
      damaged: ({ message }) => {
        if (this.#metricWarnings.length < shownDamages) this.#metricWarnings.push(`${message} The row is skipped.`);
      },
      reset: () => {
        this.#metricWarnings.length = 0;
        this.columns.clear();
        arePointsHere = false;
        this.#indexedBytes = 0;
        fresh?.take();
      },
    });
  }

  async #nameLostRows(): Promise<void> {
    const problem = whyRowsAreLost(
      this.folder,
      this.#metricsTail.state?.rows ?? 0,
      await rowsKnownToStates(this.folder),
    );
    if (problem !== null) this.#metricWarnings.push(problem);
  }

  /** Reads the new events. A damaged line is skipped and gives one warning. */
  async #readEvents(): Promise<RunUpdate[]> {
    const news: RunUpdate[] = [];
    const path = runPaths(this.folder).events;
    const restart = (): void => {
      this.events.length = 0;
      this.#eventWarnings.length = 0;
      this.#eventLines = 0;
    };
    for await (const { lines } of this.#eventsTail.read(restart)) {
      for (const line of lines) {
        this.#eventLines += 1;
        const event = parseEventLine(line, `${path}, line ${this.#eventLines}`);
        news.push(event instanceof Error ? { type: 'warning', message: event.message } : { type: 'event', event });
      }
    }
    for (const update of news) {
      if (update.type === 'event') this.events.push(update.event);
      if (update.type === 'warning') this.#eventWarnings.push(update.message);
    }
    return news;
  }
}

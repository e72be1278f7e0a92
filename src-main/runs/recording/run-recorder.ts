import { messageOf } from '../../../core/text/errors.ts';
import { improves, type MetricMode, resolveMode } from '../../../core/metrics/metric-mode.ts';
import type { LoadSample } from '../../../core/protocol/machine/devices.ts';
import type {
  Attempt,
  CheckpointRecord,
  EvaluatedSet,
  LostMember,
  RunEvent,
  RunRecord,
  RunSummary,
} from '../../../core/protocol/run/record.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import type { RunFacts, RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { appendLoads } from '../../store/metrics/device-loads.ts';
import { MetricsLog } from '../../store/metrics/metrics-log.ts';
import { appendEvent, runPaths, writeRunRecord } from '../../store/runs/run-folder.ts';
import type { RunIndex } from '../../store/index/run-index.ts';
import { withEnd, withNext, withStart } from './attempts.ts';
import { EarlierMetrics } from './earlier-metrics.ts';
import { LogFile } from './log-file.ts';
import { RecordRoom } from './record-room.ts';

/** Where the ranks of an attempt continue. */
export interface ResumeStart {
  /** Null with waves, because each wave has a different position. */
  at: NonNullable<Attempt['from']> | null;
  /** Rows of the metrics that belong to their states; null where the step tells it. */
  rows: number | null;
}

export type RunListener = (update: RunUpdate) => void;

/** Minimum time between writes of the best value to the index, because each one sends a new list to every page. */
const noteBestEveryMs = 1_000;

/** Records a run: writes to disk first, then notifies the listener. */
export class RunRecorder {
  readonly folder: string;
  record: RunRecord;
  facts: RunFacts | null = null;
  private readonly index: RunIndex;
  /** Whether the last update of the index failed. */
  private isIndexStale = false;
  private readonly tell: RunListener;
  private metrics: MetricsLog | null = null;
  private ranks: readonly number[] | null = null;
  private readonly lastValues = new Map<string, number>();
  private best: RunSummary['best'] = null;
  private bestTimer: NodeJS.Timeout | null = null;
  /** The metrics of earlier attempts. */
  private earlier: EarlierMetrics | null = null;
  private evaluatedSets: EvaluatedSet[] = [];
  private progress = { epochs: 0, steps: 0 };
  /** Writes run one after the other. `flush` throws the error of the first that failed. */
  private writes: Promise<void> = Promise.resolve();
  private writeError: Error | null = null;
  private readonly room: RecordRoom;

  /** @param onRoom called when the hub's writes begin to wait for space on the disk, and when they go on */
  constructor(
    folder: string,
    record: RunRecord,
    index: RunIndex,
    tell: RunListener,
    onRoom: (event: { kind: string; rank: null; message: string }) => void = () => undefined,
  ) {
    this.folder = folder;
    this.record = record;
    this.index = index;
    this.tell = tell;
    this.room = new RecordRoom((kind, message, data) => {
      this.event(null, kind, message, { data });
      onRoom({ kind, rank: null, message });
    });
  }

  /** Repeats a write to the run's folder while the disk is full. */
  whenThereIsRoom<T>(write: () => Promise<T>): Promise<T> {
    return this.room.write(write);
  }

  /** Lets writes that wait for space on the disk fail. */
  waitNoMore(): void {
    this.room.abandon();
  }

  /** Opens the metrics file. A resume drops the rows that its ranks compute again. */
  async begin(resume: ResumeStart | null): Promise<void> {
    await this.openMetrics(resume);
    if (resume !== null) await this.readEarlier();
    const from = resume === null ? { epoch: 0, step: 0 } : resume.at;
    // Comes last, because listeners read the metrics again when an attempt starts.
    await this.change({ attempts: withStart(this.record.attempts, from) });
  }

  /** Ends this attempt as failed and starts the next one, whose ranks continue from a position as in a resume. */
  async nextAttempt(from: ResumeStart): Promise<void> {
    await this.metrics?.close();
    await this.openMetrics(from);
    await this.readEarlier();
    this.facts = null;
    // Comes last, because listeners read the metrics again when an attempt starts.
    const { attempts, changed } = this.record;
    const { config, sourceHash, gitCommit, environment } = attempts[attempts.length - 1];
    const facts = { kind: 'restart' as const, config, sourceHash, gitCommit, environment };
    const next = withNext(withEnd(attempts, 'failed', changed), facts);
    await this.change({ attempts: withStart(next, from.at) });
  }

  private async openMetrics(from: ResumeStart | null): Promise<void> {
    const ranks = this.record.plan.map(({ rank }) => rank);
    const options = {
      ranks,
      kept: { step: from?.at?.step ?? Infinity, rows: from?.rows ?? Infinity },
      onError: (error: unknown) => this.failedToWrite(error),
      whenThereIsRoom: (write: () => Promise<void>) => this.room.write(write),
    };
    this.metrics = await this.room.write(() => MetricsLog.open(this.folder, options));
    if (this.ranks !== null) this.metrics.setRanks(this.ranks);
  }

  /** Reads earlier metrics, whose values count until they are reported again. */
  private async readEarlier(): Promise<void> {
    const damages: string[] = [];
    const { origin } = this.record;
    // Weights alone bring no best checkpoint with them, so the fork's best is its own.
    const bestAfterStep = origin?.kind === 'checkpoint' ? origin.step : -Infinity;
    this.earlier = await EarlierMetrics.read(this.folder, ({ message }) => damages.push(message), bestAfterStep);
    if (damages.length > 0) {
      const message = `Damaged rows of metrics were skipped: ${damages.length}. The first: ${damages[0]}`;
      this.event(null, 'metrics-damaged', message);
    }
    this.lastValues.clear();
    for (const [name, value] of this.earlier.lastValues) this.lastValues.set(name, value);
    if (this.facts !== null) this.best = this.earlier.best(this.facts.ensembleMonitor, this.modeOf(this.facts));
  }

  /** Sets the ranks that report from now on. A row of metrics waits only for these. */
  setRanks(ranks: readonly number[]): void {
    this.ranks = ranks;
    this.metrics?.setRanks(ranks);
  }

  /** Records that the other ranks continue without a member. */
  lostMember(member: LostMember, message: string): void {
    const { rank, epoch, step, how } = member;
    const remaining = this.ranks?.filter((other) => other !== rank) ?? [];
    this.setRanks(remaining);
    this.event(rank, 'member-lost', message, { epoch, step, data: { how, remaining } });
    this.keep({ lostMembers: [...(this.record.lostMembers ?? []), member] });
  }

  openLog(rank: number): LogFile {
    return new LogFile(runPaths(this.folder).logs, rank, {
      onError: (error) => this.failedToWrite(error),
      whenThereIsRoom: (write) => this.room.write(write),
    });
  }

  described(facts: RunFacts, versions: Record<string, string>): void {
    this.facts = facts;
    this.record = { ...this.record, versions: { ...this.record.versions, ...versions } };
    if (this.earlier !== null) this.best = this.earlier.best(facts.ensembleMonitor, this.modeOf(facts));
    this.tell({ type: 'described', about: facts });
  }

  points(rank: number, batch: PointBatch): void {
    this.metrics?.append(rank, batch);
    batch.names.forEach((name, index) => {
      const last = batch.nameIndex.lastIndexOf(index);
      this.lastValues.set(name, batch.value[last]);
    });
    this.keepBest(batch);
    this.tell({ type: 'points', rank, batch });
  }

  deviceLoads(sample: LoadSample): void {
    this.write(() => appendLoads(this.folder, sample));
    this.tell({ type: 'device-loads', ...sample });
  }

  event(
    rank: number | null,
    kind: string,
    message: string,
    at: Partial<Pick<RunEvent, 'epoch' | 'step' | 'data'>> = {},
  ): void {
    const attempt = this.record.attempts.length;
    const time = new Date().toISOString();
    const event: RunEvent = { time, attempt, rank, kind, message, epoch: null, step: null, data: {}, ...at };
    this.write(() => appendEvent(this.folder, event, { durable: rank === null }));
    this.tell({ type: 'event', event });
  }

  checkpoint(record: CheckpointRecord): void {
    const { rank, name, epoch, step, score } = record;
    const message = `Kept checkpoint "${name}"${score === null ? '' : ` at ${record.monitor} = ${score}`}.`;
    this.event(rank, 'checkpoint', message, { epoch, step, data: { name } });
    this.tell({ type: 'checkpoint', record });
  }

  evaluated(set: EvaluatedSet): void {
    this.evaluatedSets = [...this.evaluatedSets.filter((other) => other.set !== set.set), set];
    this.tell({ type: 'evaluated', set });
  }

  reached(epoch: number, step: number): void {
    this.progress = { epochs: Math.max(this.progress.epochs, epoch + 1), steps: Math.max(this.progress.steps, step) };
  }

  update(update: RunUpdate): void {
    this.tell(update);
  }

  /** Changes `run.json`, then the index. @throws the first write that failed */
  async change(changes: Partial<RunRecord>): Promise<void> {
    const record = this.replace(changes);
    await this.flush();
    this.tell({ type: 'record', record, folder: this.folder });
  }

  /** Like `change`, without waiting. The error of a failed write is thrown when the run ends. */
  keep(changes: Partial<RunRecord>): void {
    this.tell({ type: 'record', record: this.replace(changes), folder: this.folder });
  }

  /**
   * Resolves once all points so far are on disk, to the number of rows that hold them; to null if they could not be written, and `flush`
   * then throws the error.
   */
  async keepMetrics(): Promise<number | null> {
    try {
      return (await this.metrics?.flush()) ?? null;
    } catch (error) {
      this.failedToWrite(error);
      return null;
    }
  }

  /** The number of a rank's first points in this attempt that are in the metrics' file. */
  writtenPoints(rank: number): number {
    return this.metrics?.writtenPoints(rank) ?? 0;
  }

  /** Resolves once all updates so far can be read from the run's folder, or wait for space on the disk. */
  async written(): Promise<void> {
    if (this.room.isWaiting) return;
    await this.keepMetrics();
    await this.writes;
  }

  summary(stopReason: RunSummary['stopReason']): RunSummary {
    const metrics = Object.fromEntries([...this.lastValues].sort(([a], [b]) => (a < b ? -1 : 1)));
    const attempt = this.record.attempts.length;
    return { attempt, ...this.progress, stopReason, metrics, best: this.best, evaluatedSets: this.evaluatedSets };
  }

  /** @throws the first write that failed since the last call */
  async flush(): Promise<void> {
    await this.writes;
    const error = this.writeError;
    this.writeError = null;
    if (error !== null) throw error;
  }

  async close(): Promise<void> {
    if (this.bestTimer !== null) clearTimeout(this.bestTimer);
    await this.metrics?.close();
    await this.flush();
  }

  /** Ends without another write, because the run's folder is gone. */
  discard(message: string): void {
    if (this.bestTimer !== null) clearTimeout(this.bestTimer);
    this.metrics?.discard();
    this.updateIndex((index) => index.remove(this.folder));
    const error = { message, rank: null, device: null, epoch: null, step: null };
    const attempts = withEnd(this.record.attempts, 'failed', this.record.changed);
    const endedAt = attempts.at(-1)?.endedAt ?? null;
    this.record = { ...this.record, status: 'failed', error, attempts, endedAt, hub: null };
    this.tell({ type: 'ended', record: this.record });
  }

  private replace(changes: Partial<RunRecord>): RunRecord {
    const record = { ...this.record, ...changes };
    this.record = record;
    this.write(async () => {
      await writeRunRecord(this.folder, record);
      this.updateIndex((index) => index.upsert(record, this.folder));
    });
    return record;
  }

  /**
   * The index is derived from the run folders, so its failure is an event and not the run's. The next command that lists runs reads the
   * record again.
   */
  private updateIndex(update: (index: RunIndex) => void): void {
    try {
      update(this.index);
      this.isIndexStale = false;
    } catch (error) {
      if (this.isIndexStale) return;
      this.isIndexStale = true;
      this.event(
        null,
        'index-failed',
        `The list of runs does not show the present state of this run, which is not affected: ${messageOf(error)}`,
      );
    }
  }

  private keepBest({ names, nameIndex, value, epoch, step }: PointBatch): void {
    const { facts } = this;
    if (facts === null) return;
    const metric = facts.ensembleMonitor;
    const mode = this.modeOf(facts);
    const wanted = names.indexOf(metric);
    if (wanted < 0) return;
    nameIndex.forEach((name, i) => {
      if (name === wanted && improves(value[i], this.best?.value ?? null, mode)) {
        this.best = { metric, value: value[i], epoch: epoch[i], step: step[i] };
        this.bestTimer ??= setTimeout(() => this.noteBest(), noteBestEveryMs);
      }
    });
  }

  private modeOf({ ensembleMonitor }: RunFacts): MetricMode {
    return resolveMode(ensembleMonitor, this.record.config.checkpoints.mode, 'checkpoints.mode');
  }

  /** Writes the best value to the index, for lists of runs. The record gets it at the end. */
  private noteBest(): void {
    this.bestTimer = null;
    const { best } = this;
    if (best === null) return;
    this.write(() => Promise.resolve(this.updateIndex((index) => index.noteBest(this.folder, best))));
  }

  private write(action: () => Promise<void>): void {
    this.writes = this.writes.then(() => this.room.write(action)).catch((error: unknown) => this.failedToWrite(error));
  }

  private failedToWrite(error: unknown): void {
    this.writeError ??= error instanceof Error ? error : new Error(String(error));
  }
}

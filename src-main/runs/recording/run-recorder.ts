import { join } from 'node:path';
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
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import type { RunFacts, RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { checkStart } from '../../store/metrics/metrics-csv.ts';
import { appendLoads } from '../../store/metrics/device-loads.ts';
import { readCheckpointRecords } from '../../store/runs/checkpoint-records.ts';
import { setAsideUnlessFolder, setAsideUnusable } from '../../store/runs/set-aside.ts';
import {
  appendEvent,
  replaceOwnRecord,
  requireOwnRecord,
  runPaths,
  writePreprocessing,
} from '../../store/runs/run-folder.ts';
import type { RunIndex } from '../../store/index/run-index.ts';
import { AttemptMetrics } from './attempt-metrics.ts';
import { withoutFolder, withRestart, withStart } from './attempts.ts';
import { IndexEntry } from './index-entry.ts';
import type { LogFile } from './log-file.ts';
import { KnownMetrics, restoreLost, type SavedState } from './lost-metrics.ts';
import { RankLogs } from './rank-logs.ts';
import { RecordRoom, RecordWrites } from './record-writes.ts';
import { ReportedValues } from './reported-values.ts';

/** Where the ranks of an attempt continue. */
export interface ResumeStart {
  /** Null with waves, because each wave has a different position. */
  at: NonNullable<Attempt['from']> | null;
  /** Rows of the metrics that belong to their states; null where the step tells it. */
  rows: number | null;
  /** States that know what the metrics must hold; absent: none. */
  states?: readonly SavedState[];
}

export type RunListener = (update: RunUpdate) => void;

/** Minimum time between writes of the best value to the index, because each one sends a new list to every page. */
const noteBestEveryMs = 1_000;

/** Records a run: writes to disk first, then notifies the listener. */
export class RunRecorder {
  readonly folder: string;
  record: RunRecord;
  /** The record as it was written last. */
  private kept: RunRecord;
  private readonly index: IndexEntry;
  private readonly tell: RunListener;
  readonly metrics: AttemptMetrics;
  private readonly values = new ReportedValues();
  private bestTimer: NodeJS.Timeout | null = null;
  private readonly writes: RecordWrites;
  private readonly logs: RankLogs;

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
    this.kept = record;
    this.index = new IndexEntry(index, folder, (problem) => this.event(null, 'index-failed', problem));
    this.tell = tell;
    const room = new RecordRoom((kind, message, data) => {
      this.event(null, kind, message, { data });
      onRoom({ kind, rank: null, message });
    });
    this.writes = new RecordWrites(room);
    this.metrics = new AttemptMetrics(folder, this.writes);
    this.logs = new RankLogs(runPaths(folder).logs, {
      onError: (error) => this.writes.failed(error),
      whenThereIsRoom: (write) => this.writes.now(write),
    });
  }

  /** What the ranks have said about themselves in this attempt. */
  get facts(): RunFacts | null {
    return this.values.facts;
  }

  /** Repeats a write to the run's folder while the disk is full. */
  whenThereIsRoom<T>(write: () => Promise<T>): Promise<T> {
    return this.writes.now(write);
  }

  /** Lets writes that wait for space on the disk fail. */
  waitNoMore(): void {
    this.writes.waitNoMore();
  }

  /** Opens the metrics file. A resume drops the rows that its ranks compute again. */
  async begin(resume: ResumeStart | null): Promise<void> {
    await this.openMetrics(resume);
    if (resume !== null) await this.readEarlier(resume);
    if (resume !== null) await this.nameDamagedCheckpoints();
    const from = resume === null ? { epoch: 0, step: 0 } : resume.at;
    // Comes last, because listeners read the metrics again when an attempt starts.
    await this.change({ attempts: withStart(this.record.attempts, from) });
  }

  /** Ends this attempt as failed and starts the next one, whose ranks continue from a position as in a resume. */
  async nextAttempt(from: ResumeStart): Promise<void> {
    await this.openMetrics(from);
    await this.readEarlier(from);
    this.values.forgetFacts();
    // Comes last, because listeners read the metrics again when an attempt starts.
    await this.change({ attempts: withStart(withRestart(this.record), from.at) });
  }

  private openMetrics(from: ResumeStart | null): Promise<void> {
    const planned = this.record.plan.map(({ rank }) => rank);
    return this.metrics.open(planned, { step: from?.at?.step ?? Infinity, rows: from?.rows ?? Infinity });
  }

  private async readEarlier({ at, states = [] }: ResumeStart): Promise<void> {
    const { folder, record } = this;
    const known = await KnownMetrics.read(folder, states, at?.step ?? Infinity);
    const damages = await this.values.readEarlier(folder, record.origin, known);
    if (damages.length > 0) {
      const message = `Damaged rows of metrics were skipped: ${damages.length}. The first: ${damages[0].message}`;
      this.event(null, 'metrics-damaged', message);
    }
    const lost = await restoreLost(this.metrics, known, { folder, attempts: record.attempts, from: at?.step ?? null });
    if (lost === null) return;
    this.event(null, 'metrics-lost', lost.message, { step: lost.fromStep, data: { toStep: lost.toStep } });
    await this.values.readEarlier(folder, record.origin, null);
  }

  /**
   * Makes way for the files that this process appends to, where something else lies in their place. Call it before the
   * first event of a resume.
   */
  async setAsideUnusable(): Promise<void> {
    const { folder } = this;
    const logs = this.record.plan.map(({ rank }) => join('logs', `rank-${rank}.log`));
    const problems = [
      await setAsideUnlessFolder(folder, 'logs'),
      await setAsideUnusable(folder, 'metrics.csv', checkStart),
    ];
    for (const path of ['events.jsonl', 'devices.csv', ...logs]) problems.push(await setAsideUnusable(folder, path));
    for (const problem of problems) if (problem !== null) this.event(null, 'file-damaged', problem);
  }

  /** Training continues without damaged checkpoints. */
  private async nameDamagedCheckpoints(): Promise<void> {
    await readCheckpointRecords(this.folder, ({ message }) => this.event(null, 'file-damaged', message));
  }

  /** Sets the ranks that report from now on. A row of metrics waits only for these. */
  setRanks(ranks: readonly number[]): void {
    this.metrics.setRanks(ranks);
  }

  /** Records that the other ranks continue without a member. */
  lostMember(member: LostMember, message: string): void {
    const { rank, epoch, step, how } = member;
    const remaining = this.metrics.ranks?.filter((other) => other !== rank) ?? [];
    this.setRanks(remaining);
    this.event(rank, 'member-lost', message, { epoch, step, data: { how, remaining } });
    this.keep({ lostMembers: [...(this.record.lostMembers ?? []), member] });
  }

  openLog(rank: number): LogFile {
    const device = this.record.plan.find((placement) => placement.rank === rank)?.device.id;
    const place = device === undefined ? '' : ` on ${device}`;
    return this.logs.open(rank, `Attempt ${this.record.attempts.length}: rank ${rank} starts${place}.`);
  }

  described(facts: RunFacts, versions: Record<string, string>): void {
    this.record = { ...this.record, versions: { ...this.record.versions, ...versions } };
    this.values.describe(facts, this.record.config.checkpoints.mode);
    this.tell({ type: 'described', about: facts });
  }

  fitted(preprocessing: Preprocessing): void {
    this.writes.add(() => writePreprocessing(this.folder, preprocessing));
  }

  points(rank: number, batch: PointBatch): void {
    this.metrics.append(rank, batch);
    this.logs.points(rank, batch, this.values.facts?.ensembleMonitor ?? null);
    if (this.values.take(batch)) this.bestTimer ??= setTimeout(() => this.noteBest(), noteBestEveryMs);
    this.tell({ type: 'points', rank, batch });
  }

  deviceLoads(sample: LoadSample): void {
    this.writes.add(() => appendLoads(this.folder, sample));
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
    this.writes.add(() => appendEvent(this.folder, event, { durable: rank === null }));
    this.logs.event(event);
    this.tell({ type: 'event', event });
  }

  /** Records how the attempt ended, also in the logs, which are closed by now. */
  ended(status: RunRecord['status'], message: string): void {
    this.event(null, status, message);
    this.writes.add(() => this.logs.end(message));
  }

  checkpoint(record: CheckpointRecord): void {
    const { rank, name, epoch, step, score } = record;
    const message = `Kept checkpoint "${name}"${score === null ? '' : ` at ${record.monitor} = ${score}`}.`;
    this.event(rank, 'checkpoint', message, { epoch, step, data: { name } });
    this.tell({ type: 'checkpoint', record });
  }

  evaluated(set: EvaluatedSet): void {
    this.values.evaluated(set);
    this.tell({ type: 'evaluated', set });
  }

  reached(epoch: number, step: number): void {
    this.values.reached(epoch, step);
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

  /** Resolves once all updates so far can be read from the run's folder, or wait for space on the disk. */
  async written(): Promise<void> {
    if (this.writes.areWaiting) return;
    await this.metrics.keep();
    await this.writes.tried();
  }

  summary(stopReason: RunSummary['stopReason']): RunSummary {
    return this.values.summary(this.record.attempts.length, stopReason);
  }

  /** @throws the first write that failed since the last call */
  async flush(): Promise<void> {
    await this.writes.flush();
  }

  async close(): Promise<void> {
    if (this.bestTimer !== null) clearTimeout(this.bestTimer);
    await this.metrics.close();
    await this.flush();
  }

  /**
   * Whether the folder says what this process wrote last: only then may it report how the run ended.
   * @throws Error if not
   */
  async requireKept(): Promise<void> {
    await requireOwnRecord(this.folder, this.kept);
  }

  /** Ends without another write, because the run's folder is gone. */
  discard(message: string): void {
    if (this.bestTimer !== null) clearTimeout(this.bestTimer);
    this.metrics.discard();
    this.index.remove();
    this.record = withoutFolder(this.record, message);
    this.tell({ type: 'ended', record: this.record });
  }

  private replace(changes: Partial<RunRecord>): RunRecord {
    const record = { ...this.record, ...changes };
    this.record = record;
    this.writes.add(async () => {
      await replaceOwnRecord(this.folder, this.kept, record);
      this.kept = record;
      this.index.write(record);
    });
    return record;
  }

  /** Writes the best value to the index, for lists of runs. The record gets it at the end. */
  private noteBest(): void {
    this.bestTimer = null;
    const { best } = this.values;
    if (best !== null) this.writes.add(() => Promise.resolve(this.index.noteBest(best)));
  }
}

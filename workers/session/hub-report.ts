import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { CheckpointRecord, EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { WorkerState } from '../../core/protocol/run/messages.ts';
import { arraysOfBatch, type PointBatch, PointBuffer } from '../../core/protocol/wire/points.ts';
import type { HubLink } from './hub-link.ts';
import type { Position, Report } from '../member/report.ts';

/** The longest that a point waits, so that the hub receives points in batches. */
const flushEveryMs = 100;

/**
 * Reports a rank's training to the hub. It alone gathers metric points into batches: the hub hands a
 * batch on as it is.
 */
export class HubReport implements Report {
  private readonly link: HubLink;
  private readonly ranks: number;
  /** The points that the metrics' file may lack. All but the first `sent` of them wait to be sent. */
  private readonly points = new PointBuffer();
  private sent = 0;
  /** Number of the points before those, which the file has. */
  private writtenCount = 0;
  /** Points that were sent before each waiting `recorded`. */
  private readonly sentBefore: number[] = [];
  private isHubGone = false;
  private lastFlushMs = 0;
  private readonly waiting: ((rows: number | null) => void)[] = [];
  /** The last reported position, for the error message if this rank fails. */
  position: Position = { epoch: 0, step: 0 };

  /** @param ranks how many ranks share the process */
  constructor(link: HubLink, ranks = 1) {
    this.link = link;
    this.ranks = ranks;
  }

  state(state: WorkerState, position: Position): void {
    this.position = position;
    this.flush();
    this.link.send({ type: 'state', state, ...position });
  }

  point(name: string, value: number, position: Position): void {
    this.position = position;
    this.points.add(name, position.epoch, position.step, value, Date.now());
    if (performance.now() - this.lastFlushMs > flushEveryMs) this.flush();
  }

  progress(samplesPerSecond: number, position: Position): void {
    this.position = position;
    this.flush();
    // This rank's share of the process's memory.
    const memoryBytes = Math.round(process.memoryUsage.rss() / this.ranks);
    this.link.send({ type: 'progress', ...position, samplesPerSecond, memoryBytes });
  }

  event(kind: string, message: string, position: Position, data: Record<string, unknown> = {}): void {
    this.link.send({ type: 'event', kind, message, epoch: position.epoch, step: position.step, data });
  }

  fitted(preprocessing: Preprocessing): void {
    this.link.send({ type: 'fitted', preprocessing });
  }

  checkpoint(record: CheckpointRecord): void {
    this.link.send({ type: 'checkpoint', record });
  }

  evaluated(set: EvaluatedSet): void {
    this.link.send({ type: 'evaluated', set });
  }

  get reportedPoints(): number {
    return this.writtenCount + this.points.length;
  }

  unrecorded(count: number): PointBatch {
    return this.points.slice(0, Math.max(0, count - this.writtenCount));
  }

  /** The hub has written the first `count` points. */
  written(count: number): void {
    const news = Math.min(this.sent, Math.max(0, count - this.writtenCount));
    this.points.drop(news);
    this.sent -= news;
    this.writtenCount += news;
  }

  /** Nothing more is recorded. */
  loseHub(): void {
    this.isHubGone = true;
    for (const answer of this.waiting.splice(0)) answer(null);
  }

  async recorded(): Promise<number | null> {
    if (this.isHubGone) return null;
    this.flush();
    this.link.send({ type: 'saving-state' });
    const answer = Promise.withResolvers<number | null>();
    this.waiting.push(answer.resolve);
    this.sentBefore.push(this.writtenCount + this.sent);
    return answer.promise;
  }

  /** The hub has answered the oldest `recorded`. */
  acknowledge(rows: number | null): void {
    const count = this.sentBefore.shift();
    if (rows !== null && count !== undefined) this.written(count);
    this.waiting.shift()?.(rows);
  }

  flush(): void {
    this.lastFlushMs = performance.now();
    if (this.sent === this.points.length) return;
    const batch = this.points.slice(this.sent);
    this.sent = this.points.length;
    this.link.send({ type: 'points', names: batch.names }, arraysOfBatch(batch));
  }
}

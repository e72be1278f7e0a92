import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { CheckpointRecord, EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { WorkerState } from '../../core/protocol/run/messages.ts';
import type { HubLink } from './hub-link.ts';
import type { Position, Report, ReportedPoint } from '../member/report.ts';

/** The longest that a point waits, so that the hub receives points in batches. */
const flushEveryMs = 100;

interface Point extends ReportedPoint {
  timeMs: number;
}

/** Reports a rank's training to the hub; metric points travel in batches, by column. */
export class HubReport implements Report {
  private readonly link: HubLink;
  private readonly ranks: number;
  private points: Point[] = [];
  /** Sent, but perhaps not yet in the metrics' file. */
  private unwritten: Point[] = [];
  private writtenCount = 0;
  private sentCount = 0;
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
    this.points.push({ name, value, ...position, timeMs: Date.now() });
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
    return this.sentCount + this.points.length;
  }

  unrecorded(count: number): ReportedPoint[] {
    return [...this.unwritten, ...this.points]
      .slice(0, Math.max(0, count - this.writtenCount))
      .map(({ name, epoch, step, value }) => ({ name, epoch, step, value }));
  }

  /** The hub has written the first `count` points. */
  written(count: number): void {
    this.unwritten.splice(0, Math.max(0, count - this.writtenCount));
    this.writtenCount = Math.max(this.writtenCount, count);
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
    this.sentBefore.push(this.sentCount);
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
    if (this.points.length === 0) return;
    const points = this.points.splice(0);
    this.unwritten.push(...points);
    this.sentCount += points.length;
    const names = [...new Set(points.map(({ name }) => name))];
    const indexOf = new Map(names.map((name, index) => [name, index]));
    this.link.send({ type: 'points', names }, [
      Int32Array.from(points, ({ name }) => indexOf.get(name) ?? 0),
      Int32Array.from(points, ({ epoch }) => epoch),
      Int32Array.from(points, ({ step }) => step),
      Float64Array.from(points, ({ value }) => value),
      Float64Array.from(points, ({ timeMs }) => timeMs),
    ]);
  }
}

import type { RunEvent, RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { spellCommands } from '../../core/text/program.ts';
import { clearLine } from '../processes/terminal.ts';
import { RunProgress } from './progress.ts';
import type { Output, RunReport } from './report.ts';
import { lookOf, statusStyles } from './look.ts';
import { introduce, summarize } from './commands/summary.ts';

const redrawEveryMs = 100;
/** Lines stay where there is no terminal. One is printed at an evaluation, but not sooner than this after the last. */
const evaluationEveryMs = 1_000;
/** One is printed at this interval in any case. */
const lineEveryMs = 10_000;

/** Events that are printed while a run trains. The summary reports how it ended. */
const notable = new Set([
  'print',
  'data-note',
  'training-note',
  'blas-absent',
  'early-stopping',
  'non-finite-loss',
  'set-incomplete',
  'figures-failed',
  'callback-failed',
  'stop-requested',
  'rank-stopped',
  'restarted',
  'ranks-moved',
  'nodes-awaited',
  'node-joined',
  'time-limit',
  'member-lost',
  'rank-slow',
  'rank-back',
  'paused',
  'resumed',
  'change-requested',
  'rate-jumped',
  'checkpoint-requested',
  'checkpoints-kept',
  'file-damaged',
  'metrics-damaged',
  'metrics-lost',
  'state-skipped',
  'source-changed',
  'model-changed',
  'model-not-described',
  'disk-full',
  'disk-room',
  'save-skipped',
]);
/** Events that are printed with their rank. */
const ofOneRank = new Set(['non-finite-loss', 'rank-stopped']);

/**
 * Prints the progress of a run for people: one line, redrawn in place in a terminal, and a new line now and then
 * elsewhere.
 */
export class TerminalReport implements RunReport {
  private readonly output: Output;
  private readonly isQuiet: boolean;
  private readonly progress = new RunProgress();
  private isIntroduced = false;
  private lastDrawMs = 0;
  private drawnEvaluations = 0;
  private redraw: NodeJS.Timeout | null = null;

  constructor(output: Output, options: { quiet: boolean }) {
    this.output = output;
    this.isQuiet = options.quiet;
  }

  take(update: RunUpdate): void {
    if (this.isQuiet) return;
    const nowMs = performance.now();
    this.progress.take(update, nowMs);
    if (update.type === 'record' && !this.isIntroduced) this.introduce(update.record, update.folder, nowMs);
    if (update.type === 'event') this.tell(update.event);
    if (this.output.isTTY) this.scheduleRedraw(nowMs);
    else this.addLine(nowMs);
  }

  say(line: string): void {
    this.print([line]);
  }

  end(record: RunRecord, folder: string): void {
    if (this.redraw !== null) clearTimeout(this.redraw);
    if (!this.isQuiet && this.output.isTTY) {
      this.draw();
      this.output.write('\n');
    }
    const look = lookOf(this.output);
    const lines = summarize(record, folder, look).map((line, index) => {
      if (index === 0) return look.paint(statusStyles[record.status], line);
      return line.startsWith('warning:') ? look.paint('yellow', line) : line;
    });
    this.output.write(`${spellCommands(lines.join('\n'))}\n`);
  }

  private introduce(record: RunRecord, folder: string, nowMs: number): void {
    this.isIntroduced = true;
    this.lastDrawMs = nowMs;
    this.print([...introduce(record, folder), '']);
  }

  private tell({ kind, rank, message }: RunEvent): void {
    if (!notable.has(kind)) return;
    const speaker = ofOneRank.has(kind) ? `rank ${rank}: ` : '';
    this.print([`${speaker}${message}`]);
  }

  /** Prints lines that stay, above the line of progress. */
  private print(lines: string[]): void {
    this.output.write(`${this.output.isTTY ? clearLine : ''}${spellCommands(lines.join('\n'))}\n`);
  }

  private scheduleRedraw(nowMs: number): void {
    const dueInMs = this.lastDrawMs + redrawEveryMs - nowMs;
    this.redraw ??= setTimeout(() => this.draw(), Math.max(0, dueInMs));
  }

  private draw(): void {
    this.redraw = null;
    this.lastDrawMs = performance.now();
    // A line that wraps cannot be redrawn.
    const line = this.progress.line((this.output.columns ?? 80) - 1);
    if (line !== null) this.output.write(`${clearLine}${line}`);
  }

  private addLine(nowMs: number): void {
    const { evaluations } = this.progress;
    const dueMs = this.lastDrawMs + (evaluations > this.drawnEvaluations ? evaluationEveryMs : lineEveryMs);
    const line = nowMs < dueMs ? null : this.progress.line();
    if (line === null) return;
    this.lastDrawMs = nowMs;
    this.drawnEvaluations = evaluations;
    this.print([line]);
  }
}

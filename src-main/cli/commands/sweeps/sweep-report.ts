import { tutti } from '../../../../core/text/program.ts';
import type { SweepSummary } from '../../../../core/protocol/pages/sweep-summary.ts';
import type { Sweep } from '../../../../core/protocol/run/sweep/sweep.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { formatMetric, metricLabel } from '../../../../core/text/numbers.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { clearLine } from '../../../processes/terminal.ts';
import type { CampaignEnd } from '../../../campaigns/driver.ts';
import type { SweepUpdate } from '../../../campaigns/sweep-work.ts';
import { lookOf } from '../../look.ts';
import { RunProgress } from '../../progress.ts';
import type { Output } from '../../report.ts';
import { describeSweep } from './describe-sweep.ts';

const redrawEveryMs = 200;

export interface SweepReportOptions {
  json?: boolean | undefined;
  quiet?: boolean | undefined;
}

/**
 * Prints what happens in a sweep: a line for each run that ends, and in a terminal the progress of the last that
 * reported.
 */
export class SweepReport {
  readonly #output: Output;
  readonly #sweep: Sweep;
  readonly #json: boolean;
  readonly #quiet: boolean;
  readonly #progress = new Map<number, RunProgress>();
  #drawnMs = 0;

  constructor(output: Output, sweep: Sweep, { json = false, quiet = false }: SweepReportOptions) {
    this.#output = output;
    this.#sweep = sweep;
    this.#json = json;
    this.#quiet = quiet;
  }

  begin(): void {
    const { id, of, seed } = this.#sweep;
    if (this.#json) this.#print(toJson({ type: 'sweep', sweep: this.#sweep }));
    else if (!this.#quiet)
      this.#print(`Sweep ${id}: ${of} runs from seed ${seed} on. Ctrl-C stops it; ${tutti} resume ${id} continues it.`);
  }

  take(update: SweepUpdate): void {
    if (update.type === 'update') return this.#draw(update);
    this.#progress.delete(update.index);
    if (update.type === 'ended') return this.#ended(update);
    const { index, seed, isResumed, folder } = update;
    if (this.#json) this.#print(toJson({ type: 'begun', index, seed, isResumed, folder }));
  }

  say(line: string): void {
    console.error(line);
  }

  end(end: CampaignEnd, summary: SweepSummary): void {
    if (this.#json) return this.#print(toJson({ type: 'ended', end, summary }));
    const look = lookOf(this.#output);
    const lines = describeSweep(summary, look).map((line) =>
      line.startsWith('warning:') ? look.paint('yellow', line) : line,
    );
    this.#print(['', ...lines].join('\n'));
    if (end === 'gave up') this.#print('Several runs failed one after the other, so no more were begun.');
  }

  #ended({ index, seed, by, record, folder }: SweepUpdate & { type: 'ended' }): void {
    const { id, status, summary, error } = record;
    if (this.#json) return this.#print(toJson({ type: 'run', index, seed, by, id, status, folder }));
    if (this.#quiet) return;
    const best = summary?.best ?? null;
    const result = best === null ? '' : `  best ${metricLabel(best.metric)} ${formatMetric(best.value)}`;
    const reason = error === null ? '' : `  ${printableLine(error.message.split('\n')[0])}`;
    const where = by === 'this process' ? '' : by === 'an earlier one' ? ' before' : ' in another process';
    this.#print(`${this.#place(index)}  seed ${seed}  ${status}${where}${result}${reason}  ${id}`);
  }

  #draw({ index, update }: SweepUpdate & { type: 'update' }): void {
    if (this.#json || this.#quiet || !this.#output.isTTY) return;
    const nowMs = performance.now();
    const progress = this.#progress.get(index) ?? new RunProgress();
    this.#progress.set(index, progress);
    progress.take(update, nowMs);
    const place = `${this.#place(index)}  `;
    const line = progress.line((this.#output.columns ?? 80) - 1 - place.length);
    if (line === null || nowMs < this.#drawnMs + redrawEveryMs) return;
    this.#drawnMs = nowMs;
    this.#output.write(`${clearLine}${place}${line}`);
  }

  #place(index: number): string {
    const width = String(this.#sweep.of).length;
    return `${String(index + 1).padStart(width)}/${this.#sweep.of}`;
  }

  #print(line: string): void {
    this.#output.write(`${this.#output.isTTY && !this.#json ? clearLine : ''}${line}\n`);
  }
}

import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';

/** Prints the progress of a run. */
export interface RunReport {
  take(update: RunUpdate): void;
  /** Prints a line of the command itself. */
  say(line: string): void;
  /** Called once the run has ended. */
  end(record: RunRecord, folder: string): void;
}

/** The stream to print to: stdout, or its substitute in a test. */
export interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Prints every update as one JSON object per line. NaN and infinities are strings. */
export class JsonReport implements RunReport {
  private readonly output: Output;

  constructor(output: Output) {
    this.output = output;
  }

  take(update: RunUpdate): void {
    this.output.write(jsonLines(update));
  }

  say(line: string): void {
    console.error(line);
  }

  /** The run's last update has already printed how it ended. */
  end(): void {}
}

/** An update as lines of JSON. Points, which arrive by column, become one object each, with their time in ISO 8601. */
export function jsonLines(update: RunUpdate): string {
  if (update.type !== 'points') return `${toJson(update)}\n`;
  const { rank, batch } = update;
  const lines = Array.from(batch.nameIndex, (name, index) => {
    // The time of a point that was read from the run's folder is unknown.
    const timeMs = batch.timeMs[index];
    const time = Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString();
    const [epoch, step, value] = [batch.epoch[index], batch.step[index], batch.value[index]];
    return `${toJson({ type: 'point', rank, name: batch.names[name], epoch, step, value, time })}\n`;
  });
  return lines.join('');
}

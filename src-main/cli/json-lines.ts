import { toJson } from '../../core/protocol/wire/numbers.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Output, RunReport } from './report.ts';

/** Every update as one JSON object a line; NaN and infinities are strings. */
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

  /** The run's own last update has said it. */
  end(): void {}
}

/** An update as lines of JSON. Points, which travel by column, become one object each, with their time in ISO 8601. */
export function jsonLines(update: RunUpdate): string {
  if (update.type !== 'points') return `${toJson(update)}\n`;
  const { rank, batch } = update;
  const lines = Array.from(batch.nameIndex, (name, index) => {
    const time = new Date(batch.timeMs[index]).toISOString();
    const [epoch, step, value] = [batch.epoch[index], batch.step[index], batch.value[index]];
    return `${toJson({ type: 'point', rank, name: batch.names[name], epoch, step, value, time })}\n`;
  });
  return lines.join('');
}

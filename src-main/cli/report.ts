import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';

/** How a run is told to whoever watches it from the terminal. */
export interface RunReport {
  take(update: RunUpdate): void;
  /** Something that the command itself has to say. */
  say(line: string): void;
  /** The run is over. */
  end(record: RunRecord, folder: string): void;
}

/** Where it is written: stdout, or what stands in for it. */
export interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

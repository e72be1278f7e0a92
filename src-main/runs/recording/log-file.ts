import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** Enough to see what a worker did before it died. */
const keptLines = 12;

/** `logs/rank-3.log`: the output of a worker, line by line, with the time. */
export class LogFile {
  private readonly stream: WriteStream;
  private readonly last: string[] = [];

  constructor(logsFolder: string, rank: number, onError: (error: Error) => void) {
    mkdirSync(logsFolder, { recursive: true });
    this.stream = createWriteStream(join(logsFolder, `rank-${rank}.log`), { flags: 'a' });
    this.stream.on('error', onError);
  }

  write(line: string): void {
    this.last.push(line);
    if (this.last.length > keptLines) this.last.shift();
    this.stream.write(`${new Date().toISOString()} ${line}\n`);
  }

  /** Resolves once most of the lines so far are written, or can never be. */
  async drained(): Promise<void> {
    const { stream } = this;
    if (!stream.writableNeedDrain || stream.destroyed) return;
    await new Promise<void>((resolve) => {
      // After a failure, which `onError` gets, the stream closes without draining.
      const done = (): void => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
  }

  lastLines(): readonly string[] {
    return this.last;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.stream.end(resolve));
  }
}

import type { Readable } from 'node:stream';

/**
 * A longer line is cut, so that a process that prints without line breaks does not fill the memory. In UTF-16 code
 * units.
 */
export const longestLine = 2 ** 16;

/** Takes lines, possibly more slowly than a process prints them. */
export interface LineSink {
  write(line: string): void;
  /** Resolves once it takes more lines without keeping them in memory. */
  drained(): Promise<void>;
}

/**
 * Cuts text into lines at `\n`, `\r\n` and `\r`, the ends of lines of a progress bar. Lines longer than
 * {@link longestLine} become several lines.
 */
export class LineSplitter {
  #rest = '';

  push(text: string): string[] {
    const parts = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = parts.pop() ?? '';
    const whole = parts.flatMap(cut);
    if (this.#rest.length <= longestLine) return whole;
    const pieces = cut(this.#rest);
    this.#rest = pieces.pop() ?? '';
    return [...whole, ...pieces];
  }

  /** The last line, if it has no line break. */
  end(): string[] {
    const last = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    return last === '' ? [] : [last];
  }
}

/** Copies the lines of a stream to some sinks, no faster than they take them. Resolves at the end of the stream. */
export async function copyLines(stream: Readable, sinks: readonly LineSink[]): Promise<void> {
  const splitter = new LineSplitter();
  const write = (lines: readonly string[]): void => {
    for (const line of lines) for (const sink of sinks) sink.write(line);
  };
  stream.setEncoding('utf8');
  for await (const text of stream as AsyncIterable<string>) {
    write(splitter.push(text));
    await Promise.all(sinks.map((sink) => sink.drained()));
  }
  write(splitter.end());
}

function cut(line: string): string[] {
  const count = Math.max(1, Math.ceil(line.length / longestLine));
  return Array.from({ length: count }, (_, i) => line.slice(i * longestLine, (i + 1) * longestLine));
}

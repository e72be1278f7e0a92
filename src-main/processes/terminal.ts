import { printable } from '../../core/text/printable.ts';

/**
 * Returns to the start of the line and erases it. Tutti gives no other command to a terminal, and this one only at the
 * start of a write.
 */
export const clearLine = '\r\u001B[K';

/**
 * From now on all text that this process writes to its terminal is only shown: names, messages and logs of run folders
 * and projects that somebody else made cannot move the cursor, set the title or hide lines, whichever code prints them.
 */
export function protectTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) showOnly(stream);
}

function showOnly(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  const writeShown = (chunk: string | Uint8Array, ...rest: never[]): boolean =>
    write(typeof chunk === 'string' ? shown(chunk) : chunk, ...rest);
  stream.write = writeShown;
}

function shown(text: string): string {
  return text.startsWith(clearLine) ? clearLine + printable(text.slice(clearLine.length)) : printable(text);
}

/**
 * Ctrl-C reaches this process several times: the terminal sends SIGINT to all processes of the command, and npm and the
 * launcher (`tutti.mjs`) pass theirs on. Signals within this time are one key press.
 */
const samePressMs = 500;

/** Tells key presses from the copies of one. */
export class KeyPress {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** Whether a SIGINT that arrives now is a new key press. */
  isNew(): boolean {
    const nowMs = performance.now();
    const isNew = nowMs - this.#lastMs > samePressMs;
    this.#lastMs = nowMs;
    return isNew;
  }
}

import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 2 ** 18;
/** A header of 100,000 metrics has about 4 MB. */
const longestLineBytes = 2 ** 24;
const lineBreak = 0x0a;

/** Lines that were read together. */
export interface LinePortion {
  lines: string[];
  /** Byte position of the first line. */
  from: number;
  /** Byte position after the line break of the last line. */
  to: number;
}

/**
 * Reads the whole lines of a text file in portions, from a byte position on, and leaves out a last line without a line break.
 * @param until byte position at which to stop; default: the end of the file
 * @throws Error with the position of a line of more than 16 MiB, because the file is then damaged
 */
export async function* readPortions(handle: FileHandle, from: number, until = Infinity): AsyncGenerator<LinePortion> {
  let rest = Buffer.alloc(0);
  /** Where the next piece begins. The rest before it has no line break, and is forgotten where it is too long. */
  let at = from;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, until - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(lineBreak) + 1;
    if (end > 0 && at - bytes.length > from) throw tooLong(from);
    if (end > 0) {
      yield { lines: bytes.toString('utf8', 0, end - 1).split('\n'), from, to: from + end };
      from += end;
    }
    rest = bytes.length - end > longestLineBytes ? Buffer.alloc(0) : bytes.subarray(end);
  }
}

function tooLong(at: number): Error {
  return new Error(
    `The line at byte ${at} is longer than ${longestLineBytes} bytes: the file was damaged. Remove the line, or restore the file from a copy.`,
  );
}

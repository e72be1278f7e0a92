import { type FileHandle, readFile } from 'node:fs/promises';
import { decodeText } from '../text/text-encoding.ts';
import { explainFileError } from './file-error.ts';

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
 * Reads the whole lines of a text file in portions, from a byte position on, and leaves out a last line without a line
 * break.
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
    `The line at byte ${at} is longer than ${longestLineBytes} bytes: the file was damaged. Remove the line, ` +
      'or restore the file from a copy.',
  );
}

/**
 * Fills `target` with the bytes of a file from `position` on. The system may return fewer bytes than requested, so one
 * call of `read` is not enough.
 * @returns the bytes read: fewer than `target` has only where the file ends before
 */
export async function readFully(handle: FileHandle, target: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < target.byteLength) {
    const { bytesRead } = await handle.read(target, done, target.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

/**
 * The text of a file that a user hands in.
 * @param action what is tried, as in "Cannot <action> <path>"
 * @throws FileError where it cannot be read, Error that names line and byte where it is not text
 */
export async function readUserText(path: string, action: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw explainFileError(error, path, action);
  });
  return decodeText(bytes, path);
}

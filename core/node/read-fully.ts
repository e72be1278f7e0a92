import { type FileHandle, readFile } from 'node:fs/promises';
import { decodeText } from '../text/text-encoding.ts';
import { explainFileError } from './file-error.ts';

/**
 * Fills `target` with the bytes of a file from `position` on. The system may return fewer bytes than requested, so one call
 * of `read` is not enough.
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

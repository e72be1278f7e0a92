import { readFile } from 'node:fs/promises';
import { decodeText } from '../text/text-encoding.ts';
import { explainFileError } from './file-error.ts';

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

import { stat } from 'node:fs/promises';
import { errorCode } from '../../../core/node/file-error.ts';

/** Size of a file in bytes; null if it does not exist. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** `9,912,422 bytes` */
export function byteCount(bytes: number): string {
  return `${bytes.toLocaleString('en')} bytes`;
}

/** An error's message and those of its causes: `fetch` puts the reason there. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message || ('code' in error ? String(error.code) : error.name);
  return error.cause === undefined ? message : `${message}: ${reasonOf(error.cause)}`;
}

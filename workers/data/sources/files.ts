import { stat } from 'node:fs/promises';

/** Size in bytes, or null where there is no such file. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return null;
    throw error;
  }
}

/** Whether an error is one of the system's, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** `9,912,422 bytes` */
export function byteCount(bytes: number): string {
  return `${bytes.toLocaleString('en')} bytes`;
}

/** An error's message with those of its causes, where `fetch` and others hide what went wrong. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message || ('code' in error ? String(error.code) : error.name);
  return error.cause === undefined ? message : `${message}: ${reasonOf(error.cause)}`;
}

import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { explainFileError } from './file-error.ts';
import { flushFolder } from './make-folder.ts';
import { openOwnFile } from './own-files.ts';

export interface AppendOptions {
  /** First line of a new file. */
  header?: string;
  /** Text that ends a line that a crash cut short, so that readers cannot mistake it for a whole line. */
  closing?: string;
  /** Flush to the disk before returning. */
  durable?: boolean;
}

/**
 * Appends lines to a text file, which need not exist yet.
 * @throws ForeignEntryError where a link or something else than a file is in its place
 */
export async function appendLines(path: string, lines: readonly string[], options: AppendOptions = {}): Promise<void> {
  const { header, closing = '', durable = false } = options;
  try {
    const handle = await openOwnFile(dirname(path), basename(path), 'append');
    try {
      const { size } = await handle.stat();
      const tail = Buffer.alloc(1);
      if (size > 0) await handle.read(tail, 0, 1, size - 1);
      const first = size === 0 && header !== undefined ? `${header}\n` : '';
      const end = size > 0 && tail.toString() !== '\n' ? `${closing}\n` : '';
      const text = `${first}${end}${lines.map((line) => `${line}\n`).join('')}`;
      await appendWhole(handle, text, durable);
      if (durable && size === 0) await flushFolder(dirname(path));
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explainFileError(error, path, 'append to');
  }
}

/**
 * Appends text to an open file. If that fails, the part that was written is cut off.
 * @param durable flush it to the disk
 */
export async function appendWhole(handle: FileHandle, text: string, durable = false): Promise<void> {
  const { size } = await handle.stat();
  try {
    await handle.appendFile(text);
    if (durable) await handle.sync();
  } catch (error) {
    // The caller gets the first error: readers skip a line that was cut short.
    await handle.truncate(size).catch(() => undefined);
    throw error;
  }
}

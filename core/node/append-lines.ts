import { open } from 'node:fs/promises';
import { explainFileError } from './file-error.ts';

export interface AppendOptions {
  /** First line of a new file. */
  header?: string;
  /** Text that ends a line that a crash cut short, so that readers cannot mistake it for a whole line. */
  closing?: string;
  /** Flush to the disk before returning. */
  durable?: boolean;
}

/** Appends lines to a text file, which need not exist yet. */
export async function appendLines(path: string, lines: readonly string[], options: AppendOptions = {}): Promise<void> {
  const { header, closing = '', durable = false } = options;
  try {
    const handle = await open(path, 'a+');
    try {
      const { size } = await handle.stat();
      const tail = Buffer.alloc(1);
      if (size > 0) await handle.read(tail, 0, 1, size - 1);
      const first = size === 0 && header !== undefined ? `${header}\n` : '';
      const end = size > 0 && tail.toString() !== '\n' ? `${closing}\n` : '';
      await handle.appendFile(`${first}${end}${lines.map((line) => `${line}\n`).join('')}`);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explainFileError(error, path, 'append to');
  }
}

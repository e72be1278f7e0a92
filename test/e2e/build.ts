import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'electron-vite';
import { errorCode } from '../../src-main/store/file-error.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = ['src-renderer', 'protocol', 'electron.vite.config.ts', 'package-lock.json'];

/** Builds the page unless it is newer than all that it is made of. */
export async function buildIfStale(): Promise<void> {
  const builtMs = await modifiedMs(join(root, 'out', 'renderer', 'index.html'));
  const changedMs = await Promise.all(sources.map((source) => newestMs(join(root, source))));
  if (builtMs < Math.max(...changedMs)) await build({ root, logLevel: 'warn' });
}

async function newestMs(path: string): Promise<number> {
  if (!(await stat(path)).isDirectory()) return modifiedMs(path);
  const entries = await readdir(path, { recursive: true });
  return Math.max(...(await Promise.all(entries.map((entry) => modifiedMs(join(path, entry))))));
}

async function modifiedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

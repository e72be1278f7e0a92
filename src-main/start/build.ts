import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The output of the build: page, preload and the desktop app's main process. */
export const out = join(root, 'out');

/** The sources of the build. */
const sources = ['core', 'src-main', 'src-renderer', 'package-lock.json', 'electron.vite.config.ts'];

/** Builds the page if it is missing or older than its sources. The package has no sources, only the page. */
export async function buildIfStale(): Promise<void> {
  if (!existsSync(join(root, 'src-renderer'))) return;
  const builtMs = await newestMs(join(out, 'renderer', 'index.html'));
  const changedMs = Math.max(...(await Promise.all(sources.map((source) => newestMs(join(root, source))))));
  if (builtMs >= changedMs) return;
  console.log(builtMs === 0 ? 'Building the page, once.' : 'Building the page again: its sources have changed.');
  const { build } = await import('electron-vite');
  await build({ root, logLevel: 'warn' });
}

/** Modification time of the newest file at or below a path, in ms since 1970; 0 if there is none. */
async function newestMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (found === null) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  const files = await readdir(path, { recursive: true, withFileTypes: true });
  const times = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).mtimeMs);
  return Math.max(0, ...(await Promise.all(times)));
}

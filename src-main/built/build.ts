import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The output of the build: pages, the page of reports, preload and the desktop app's main process. */
export const out = join(root, 'out');

/** The sources of the build. */
const sources = [
  'core',
  'src-main',
  'src-renderer',
  'package-lock.json',
  'electron.vite.config.ts',
  'report.vite.config.ts',
];

const results = [join('renderer', 'index.html'), join('report', 'report.iife.js')];

/** Builds the pages if they are missing or older than their sources. The package has no sources, only the pages. */
export async function buildIfStale(): Promise<void> {
  if (!existsSync(join(root, 'src-renderer'))) return;
  const builtMs = Math.min(...(await Promise.all(results.map((file) => newestMs(join(out, file))))));
  const changedMs = Math.max(...(await Promise.all(sources.map((source) => newestMs(join(root, source))))));
  if (builtMs >= changedMs) return;
  console.error(builtMs === 0 ? 'Building the pages, once.' : 'Building the pages again: their sources have changed.');
  const { build } = await import('electron-vite');
  await build({ root, logLevel: 'warn' });
  const { build: buildReport } = await import('vite');
  await buildReport({ configFile: join(root, 'report.vite.config.ts'), logLevel: 'warn' });
}

/** Modification time of the newest file at or below a path, in ms since 1970; 0 if there is none. */
export async function newestMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (found === null) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  const files = await readdir(path, { recursive: true, withFileTypes: true });
  const times = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).mtimeMs);
  return Math.max(0, ...(await Promise.all(times)));
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { FileLock } from '../../core/node/file-lock.ts';
import { messageOf } from '../../core/text/errors.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** The output of the build: pages, the page of reports, preload and the desktop app's main process. */
export const out = join(repository, 'out');

/** The sources of the build. */
const sources = [
  'core',
  'src-main',
  'src-renderer',
  'package.json',
  'package-lock.json',
  'electron.vite.config.ts',
  'renderer.vite.config.ts',
  'report.vite.config.ts',
];

const results = [join('renderer', 'index.html'), join('report', 'report.iife.js')];

/** The sources of which the pages were built. A build empties the folder, so the file tells of this build alone. */
const builtOf = join('out', 'renderer', 'build.json');
const builtOfSchema = z.object({ version: z.string(), sources: z.string() });

/** Another process may be building. */
const buildWaitMs = 900_000;

/**
 * Builds the pages unless they were built of the present sources. The package has no sources, only the pages.
 * @throws Error if they cannot be built, or the package has those of another version
 */
export async function buildIfStale(): Promise<void> {
  if (!existsSync(join(repository, 'src-renderer'))) return requireOwnPages();
  if ((await whyStale()) === null) return;
  await mkdir(out, { recursive: true });
  const lock = await FileLock.take(join(out, 'build.lock'), buildWaitMs);
  try {
    // Another process may have built them meanwhile.
    const reason = await whyStale();
    if (reason === null) return;
    console.error(reason);
    await buildAll();
    await noteBuilt(repository);
  } finally {
    lock?.release();
  }
}

async function buildAll(): Promise<void> {
  try {
    const { build } = await import('electron-vite');
    await build({ root: repository, logLevel: 'warn' });
    const { build: buildReport } = await import('vite');
    await buildReport({ configFile: join(repository, 'report.vite.config.ts'), logLevel: 'warn' });
  } catch (cause) {
    throw new Error(`The pages could not be built: ${whyNotBuilt(messageOf(cause))}`, { cause });
  }
}

/** A build has many errors, each with the stack of the bundler: the first lines name what is wrong. */
const shownLines = 12;

function whyNotBuilt(message: string): string {
  if (/EMFILE|too many open files/i.test(message))
    return 'this process has too many files open. Raise the limit (ulimit -n 4096) and start again.';
  const lines = stripVTControlCharacters(message).split('\n');
  const own = lines.filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return `${own.slice(0, shownLines).join('\n')}\nReinstall with npm ci, or restore the sources.`;
}

/**
 * Why the pages must be built, as a sentence for the user; null if they are those of the present sources. Times alone
 * do not tell: a source that was removed, or replaced by an older one, leaves no newer file.
 */
export async function whyStale(root: string = repository): Promise<string | null> {
  const builtMs = Math.min(...(await Promise.all(results.map((file) => newestMs(join(root, 'out', file))))));
  if (builtMs === 0) return 'Building the pages, once.';
  const files = await sourceFiles(root);
  const isOlder = files.some(({ mtimeMs }) => mtimeMs > builtMs);
  const noted = await readBuilt(root);
  if (isOlder || (noted !== null && noted.sources !== hashOf(files)))
    return 'Building the pages again: their sources have changed.';
  // `npm run build` has made them. Where the folder is read-only, their sources do not change either.
  if (noted === null) await noteBuilt(root).catch(unlessFileError);
  return null;
}

function unlessFileError(error: unknown): void {
  if (errorCode(error) === null) throw error;
}

/** Notes of what the pages in `out` were built. */
async function noteBuilt(root: string): Promise<void> {
  const built = { version: packageJson.version, sources: hashOf(await sourceFiles(root)) };
  await writeFileAtomic(join(root, builtOf), `${JSON.stringify(built)}\n`);
}

/** @throws Error if the pages beside this program are of another version */
async function requireOwnPages(): Promise<void> {
  const built = await readBuilt(repository);
  if (built === null || built.version === packageJson.version) return;
  throw new Error(
    `The pages in ${join(out, 'renderer')} are those of Tutti ${built.version}, and this is Tutti ` +
      `${packageJson.version}: install it again.`,
  );
}

/** Null where nothing was noted. */
async function readBuilt(root: string): Promise<z.output<typeof builtOfSchema> | null> {
  try {
    return builtOfSchema.parse(JSON.parse(await readFile(join(root, builtOf), 'utf8')));
  } catch {
    return null;
  }
}

interface SourceFile {
  path: string;
  bytes: number;
  mtimeMs: number;
}

async function sourceFiles(root: string): Promise<SourceFile[]> {
  const files = (await Promise.all(sources.map((source) => filesBelow(join(root, source))))).flat();
  return files.map((file) => ({ ...file, path: relative(root, file.path) }));
}

function hashOf(files: readonly SourceFile[]): string {
  const lines = files.map(({ path, bytes, mtimeMs }) => `${path}\n${bytes} ${mtimeMs}\n`).toSorted();
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** Modification time of the newest file at or below a path, in ms since 1970; 0 if there is none. */
export async function newestMs(path: string): Promise<number> {
  return Math.max(0, ...(await filesBelow(path)).map(({ mtimeMs }) => mtimeMs));
}

/** The files at or below a path; none where nothing is there. */
async function filesBelow(path: string): Promise<SourceFile[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) return [];
  if (!found.isDirectory()) return [{ path, bytes: found.size, mtimeMs: found.mtimeMs }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (file) => {
      const { size, mtimeMs } = await stat(file);
      return { path: file, bytes: size, mtimeMs };
    }),
  );
}

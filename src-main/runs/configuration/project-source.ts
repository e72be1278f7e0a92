import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';

/** A script of a project. */
export interface Script {
  /** Relative to the project, with `/`. */
  path: string;
  content: Buffer;
}

/** The scripts in a project's folder, by path, except packages, hidden folders and runs. None if there is no folder. */
export async function readProjectScripts(folder: string): Promise<Script[]> {
  try {
    const paths = (await scriptsIn(folder)).sort();
    return await Promise.all(
      paths.map(async (path) => ({ path: relative(folder, path).split(sep).join('/'), content: await readFile(path) })),
    );
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'read the project');
  }
}

/** SHA-256 of paths and contents. */
export function hashScripts(scripts: readonly Script[]): string {
  const hash = createHash('sha256');
  for (const { path, content } of scripts) hash.update(`${path}\n${content.length}\n`).update(content);
  return hash.digest('hex');
}

/** SHA-256 of a project's source: {@link hashScripts} of its scripts. Null if there is no script or no folder. */
export async function hashProjectSource(folder: string): Promise<string | null> {
  const scripts = await readProjectScripts(folder);
  return scripts.length === 0 ? null : hashScripts(scripts);
}

async function scriptsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'run.json')) return [];
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return isSkipped(entry.name) ? [] : await scriptsIn(path);
      return entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name) ? [path] : [];
    }),
  );
  return nested.flat();
}

function isSkipped(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.');
}

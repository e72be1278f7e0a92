import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';

/**
 * SHA-256 of a project's source: paths and contents of all scripts in its folder, apart from packages, hidden folders and runs. Null where
 * the folder is gone.
 */
export async function hashProjectSource(folder: string): Promise<string | null> {
  try {
    const paths = (await scriptsIn(folder)).sort();
    if (paths.length === 0) return null;
    const hash = createHash('sha256');
    for (const path of paths) {
      const content = await readFile(path);
      hash.update(`${relative(folder, path).split(sep).join('/')}\n${content.length}\n`).update(content);
    }
    return hash.digest('hex');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, folder, 'read the project');
  }
}

/** How the project's source differs now from that which a run trained with, in a sentence; null where it is the same. */
export async function describeSourceChange({ project, attempts }: RunRecord): Promise<string | null> {
  const now = await hashProjectSource(project.folder);
  if (now === null) return `The project's folder ${project.folder} is gone: restore it.`;
  const hashes = attempts.map(({ sourceHash }) => sourceHash);
  if (hashes.length > 0 && hashes.every((hash) => hash === now)) return null;
  const known = hashes.every((hash) => hash !== undefined);
  const change = known
    ? 'has changed since the run trained'
    : 'may have changed since the run trained, which did not note it';
  return `The source in ${project.folder} ${change}: what comes from it now, data for instance, need not be what it was.`;
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

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import {
  type DescribeReply,
  type ProjectDescription,
  projectEntries,
} from '../../../core/protocol/run/project-description.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { grantFor } from '../../trust/grant.ts';
import { allowPermissions, requireTrust, trustOf } from '../../trust/project-trust.ts';
import { askProcess } from '../../processes/ask-process.ts';
import { describeEntry } from '../../processes/node-process.ts';

/**
 * Loads a trusted project in a separate process and returns its description of itself.
 * @throws the project's own error if its code fails, an error if the folder holds no project, UntrustedError
 */
export async function describeProject(folder: string): Promise<ProjectDescription> {
  const grant = grantFor({ project: folder, isDescribing: true });
  const reply = await askProcess<DescribeReply>({
    entry: describeEntry,
    args: [requireTrust(folder)],
    grant,
    timeoutMs: 30_000,
    subject: `The project in ${folder} could not be loaded`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  const { description } = reply;
  // The environment answers for the user, as --trust does.
  if (trustOf(folder).by === 'environment') await allowPermissions(folder, description.permissions);
  return description;
}

/** Whether a folder holds a project. Runs nothing of it. */
export function holdsProject(folder: string): boolean {
  return projectEntries.some((name) => existsSync(join(folder, name)));
}

/**
 * SHA-256 of a project's source: paths and contents of all scripts in its folder, except packages, hidden folders and runs. Null if there
 * is no script or no folder.
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

/** A sentence on how the project's source differs from the source that a run trained with; null if it is the same. */
export async function describeSourceChange({ project, attempts }: RunRecord): Promise<string | null> {
  const now = await hashProjectSource(project.folder);
  if (now === null) return `The project's folder ${project.folder} is gone: restore it.`;
  const hashes = attempts.map(({ sourceHash }) => sourceHash);
  if (hashes.length > 0 && hashes.every((hash) => hash === now)) return null;
  const known = hashes.every((hash) => hash !== undefined);
  const change = known
    ? 'has changed since the run trained'
    : 'may have changed since the run trained, which did not record it';
  return `The source in ${project.folder} ${change}: data and other results of the source may differ from those of the run.`;
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

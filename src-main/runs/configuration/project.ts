import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DescribeReply,
  type ProjectDescription,
  projectEntries,
} from '../../../core/protocol/run/project-description.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { grantFor } from '../../trust/grant.ts';
import { allowPermissions, requireTrust, trustOf } from '../../trust/project-trust.ts';
import { askProcess } from '../../processes/standing-process.ts';
import { describeEntry } from '../../processes/node-process.ts';
import { hashProjectSource } from './project-source.ts';

/** Sets the time that a project has to describe itself, for all commands and pages. */
const loadVariable = 'TUTTI_LOAD_SECONDS';
const usualLoadSeconds = 30;
/** A day. */
const mostSeconds = 86_400;

/**
 * Loads a trusted project in a separate process and returns its description of itself.
 * @throws the project's own error if its code fails, an error if the folder holds no project or its code takes too
 * long, UntrustedError
 */
export async function describeProject(folder: string): Promise<ProjectDescription> {
  const grant = grantFor({ project: folder, isDescribing: true });
  const reply = await askProcess<DescribeReply>({
    entry: describeEntry,
    args: [requireTrust(folder)],
    grant,
    timeoutMs: 1000 * loadSeconds(),
    subject: `The project in ${folder} could not be loaded`,
    remedy:
      'What takes long belongs into data() or model(), which run once the training has begun. ' +
      `The variable ${loadVariable} sets another limit, such as ${loadVariable}=${10 * loadSeconds()}.`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  const { description } = reply;
  // The environment answers for the user, as --trust does.
  if (trustOf(folder).by === 'environment') await allowPermissions(folder, description.permissions);
  return description;
}

/** @throws Error for a limit that is no time */
function loadSeconds(): number {
  const given = process.env[loadVariable] ?? '';
  const seconds = given.trim() === '' ? usualLoadSeconds : Number(given);
  if (seconds > 0 && seconds <= mostSeconds) return seconds;
  throw new Error(
    `${loadVariable} is "${given}", but must be a number of seconds above 0 and at most ${mostSeconds}: the ` +
      'time that a project has to load.',
  );
}

/** Whether a folder holds a project. Runs nothing of it. */
export function holdsProject(folder: string): boolean {
  return projectEntries.some((name) => existsSync(join(folder, name)));
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
  return (
    `The source in ${project.folder} ${change}: data and other results of the source may differ from those of ` +
    'the run.'
  );
}

import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { unlessMissing, rereadStale } from '../../../core/node/file-error.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import { type RunAccess, runAccessSchema } from '../../../core/protocol/run/follow.ts';
import { homePaths } from '../../store/home.ts';
import { privateMode } from '../../store/private-home.ts';

function accessPath(id: string): string {
  return join(homePaths().reachable, `${id}.json`);
}

/** Writes where a run can be reached, on one line, as the far end of `tutti attach user@login:run` reads it. */
export async function writeAccess(access: RunAccess): Promise<void> {
  await makeFolder(homePaths().reachable, privateMode);
  await writeFileAtomic(accessPath(access.id), `${JSON.stringify(access)}\n`);
}

export async function removeAccess(id: string): Promise<void> {
  await rm(accessPath(id), { force: true });
}

export function isReachable(id: string): boolean {
  return existsSync(accessPath(id));
}

/** Null where the run cannot be reached. */
export async function readAccess(id: string): Promise<RunAccess | null> {
  const text = await unlessMissing(rereadStale(() => readFile(accessPath(id), 'utf8')));
  return text === null ? null : runAccessSchema.parse(JSON.parse(text));
}

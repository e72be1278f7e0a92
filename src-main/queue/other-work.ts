import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../core/node/file-error.ts';
import { lookAtLock } from '../../core/node/file-lock.ts';
import { searchPaths } from '../discovery/search-folder.ts';
import { homePaths } from '../store/home.ts';
import { listStudyFolders } from '../studies/folder/study-folder.ts';
import { hasWorkersHere } from '../studies/folder/worker-lock.ts';

/**
 * Whether a process of this machine works on a study or on a search of a pool: between two of their runs nothing trains for a moment. A search that
 * asks a person has ended until it is answered, and counts as none.
 */
export async function isStudyOrSearchUnderWay(): Promise<boolean> {
  if ((await listStudyFolders()).some(hasWorkersHere)) return true;
  const { discoveries } = homePaths();
  const names = (await unlessMissing(readdir(discoveries))) ?? [];
  return names.some((name) => lookAtLock(searchPaths(join(discoveries, name)).lock).kind === 'held');
}

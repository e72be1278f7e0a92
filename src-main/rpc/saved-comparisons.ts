import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { ComparisonContent, ComparisonList, SavedComparison } from '../../core/protocol/pages/saved-comparison.ts';
import { savedComparisonSchema } from '../../core/protocol/pages/saved-comparison.ts';
import { messageOf } from '../../core/text/errors.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { homePaths } from '../store/home.ts';
import type { Trash } from './runs/trash.ts';

/** The comparisons that the user saved, a file each in Tutti's home. */
export function comparisonMethods(trash: Trash) {
  return {
    comparisons: listComparisons,
    saveComparison: (content) => write(randomUUID(), content),
    async updateComparison(id, changes) {
      const { name, query } = { ...(await readComparison(id)), ...changes };
      return write(id, { name, query });
    },
    async deleteComparison(id) {
      const deletion = `comparison ${id}`;
      await trash.put(deletion, [(await readComparison(id)).path]);
      return { deletion };
    },
  } satisfies Partial<HubApi>;
}

async function listComparisons(): Promise<ComparisonList> {
  const { comparisons: folder } = homePaths();
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'read');
  });
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  const read = await Promise.allSettled(ids.map(readComparison));
  return {
    comparisons: read
      .flatMap((one) => (one.status === 'fulfilled' ? [withoutPath(one.value)] : []))
      .toSorted((left, right) => right.savedAt.localeCompare(left.savedAt)),
    problems: read.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : [])),
  };
}

async function readComparison(id: string): Promise<SavedComparison & { path: string }> {
  const path = pathOf(id);
  try {
    return { ...savedComparisonSchema.parse(JSON.parse(await readFile(path, 'utf8'))), path };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      throw new Error(`There is no saved comparison ${id}: it was deleted. Save it again.`, { cause: error });
    }
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(`${path} is damaged: ${reason}\nCorrect or remove it.`, { cause: error });
  }
}

async function write(id: string, { name, query }: ComparisonContent): Promise<SavedComparison> {
  const saved: SavedComparison = { format: 1, id, name, query, savedAt: new Date().toISOString() };
  await mkdir(homePaths().comparisons, { recursive: true });
  await writeFileAtomic(pathOf(id), `${JSON.stringify(saved, null, 2)}\n`);
  return saved;
}

function withoutPath({ path: _path, ...saved }: SavedComparison & { path: string }): SavedComparison {
  return saved;
}

function pathOf(id: string): string {
  return join(homePaths().comparisons, `${id}.json`);
}

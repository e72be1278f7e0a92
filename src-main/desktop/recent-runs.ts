import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';

const recentRunsSchema = z.array(z.strictObject({ folder: z.string(), name: z.string() }));
/** Runs whose pages were shown, the most recent first. */
export type RecentRuns = z.output<typeof recentRunsSchema>;

/** The menu has no more. */
const mostRuns = 10;

/** The id of the run that a page shows; null for other pages. @param address the part of the page's address after `#` */
export function shownRun(address: string): string | null {
  const [id] = /(?<=^\/runs\/)[^/?]+/.exec(address) ?? [];
  return id === undefined ? null : decodeURIComponent(id);
}

/** The list with this run as its first. */
export function withRecent(runs: RecentRuns, run: RecentRuns[number]): RecentRuns {
  return [run, ...runs.filter(({ folder }) => folder !== run.folder)].slice(0, mostRuns);
}

/** The list as it was kept; empty if it was never, or is damaged, because the next run replaces it. */
export async function readRecentRuns(path: string): Promise<RecentRuns> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  const parsed = recentRunsSchema.safeParse(text === null ? [] : parseJson(text));
  return parsed.data ?? [];
}

export async function writeRecentRuns(path: string, runs: RecentRuns): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(runs, null, 2)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

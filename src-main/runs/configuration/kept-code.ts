import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appendLines } from '../../../core/node/append-lines.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import type { RunSource } from '../../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { homePaths } from '../../store/home.ts';
import { describeSourceChange } from './project.ts';
import { hashProjectSource } from './project-source.ts';

/**
 * Code that a run kept (`sources/<hash>/`), and whether it may run. A run's folder may come from anywhere, so its code
 * runs only if this user's Tutti trained with exactly that code: `trained-sources.txt` in Tutti's home lists the
 * hashes.
 */

/** Where a run keeps the code of that hash. */
export function keptCodeFolder(runFolder: string, hash: string): string {
  return join(runFolder, 'sources', hash);
}

/** Notes that a trusted project trained with this code, so that it may run again from a run's folder. */
export async function noteTrained(hash: string): Promise<void> {
  if (!(await trainedHashes()).has(hash)) await appendLines(homePaths().trainedSources, [hash]);
}

async function trainedHashes(): Promise<Set<string>> {
  const text = (await unlessMissing(readFile(homePaths().trainedSources, 'utf8'))) ?? '';
  return new Set(text.split('\n'));
}

/** The folder of kept code of that hash; null if the run has no whole copy, or this user never trained with it. */
export async function usableCode(runFolder: string, hash: string | null | undefined): Promise<string | null> {
  if (hash === null || hash === undefined) return null;
  const folder = keptCodeFolder(runFolder, hash);
  if (!existsSync(folder) || !(await trainedHashes()).has(hash)) return null;
  // Its name alone proves nothing.
  return (await hashProjectSource(folder)) === hash ? folder : null;
}

/**
 * Which code a process that rebuilds the run's models or loads its data runs, and what the user should know about it.
 */
export async function codeOfRun(
  runFolder: string,
  record: RunRecord,
): Promise<Pick<RunSource, 'sourceChange' | 'sourceFolder'>> {
  const { project, attempts } = record;
  const hash = attempts.at(-1)?.sourceHash;
  const now = await hashProjectSource(project.folder);
  // If the folder is gone, there is nothing to trust, and no data.
  const kept = now === hash || !existsSync(project.folder) ? null : await usableCode(runFolder, hash);
  if (kept === null) return { sourceChange: await describeSourceChange(record), sourceFolder: null };
  return {
    sourceFolder: kept,
    sourceChange: `The source in ${project.folder} has changed since the run trained. The code that the run kept is used.`,
  };
}

import { appendFileSync, closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../../core/text/errors.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import type { homePaths } from '../home.ts';
import { readRunRecord, runPaths } from './run-folder.ts';
import { readRunNotes, type RunNotes } from './run-notes.ts';

type HomePaths = ReturnType<typeof homePaths>;

/** A folder of a run that could not be read. */
export interface FolderProblem {
  folder: string;
  message: string;
}

export function holdsRun(folder: string): boolean {
  return existsSync(runPaths(folder).record);
}

/** The folders with runs: those in `runs/`, then the recorded external ones. */
export async function knownFolders(paths: HomePaths): Promise<string[]> {
  const names = await readdir(paths.runs);
  const inside = names.map((name) => join(paths.runs, name));
  return [...new Set([...inside, ...(await readExternal(paths.externalRuns))])].filter(holdsRun);
}

/** Records a folder that is not directly in `runs/`, so that a rebuilt index finds it. Recording it twice is harmless. */
export function noteExternalFolder(paths: HomePaths, folder: string): void {
  if (dirname(folder) === paths.runs) return;
  try {
    appendLineSync(paths.externalRuns, folder);
  } catch (error) {
    throw explainFileError(error, paths.externalRuns, 'append to');
  }
}

/** Appends a line and flushes it. A line that a power cut left without its end does not swallow it. */
function appendLineSync(path: string, line: string): void {
  const file = openSync(path, 'a+', 0o600);
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    appendFileSync(file, `${size > 0 && last.toString() !== '\n' ? '\n' : ''}${line}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export interface FoundRun {
  folder: string;
  record: RunRecord;
  notes: RunNotes;
}

/** Reads the records of many folders, copies of runs after the originals. Those that cannot be read are returned as problems. */
export async function readRunRecords(folders: string[]): Promise<{ runs: FoundRun[]; problems: FolderProblem[] }> {
  const runs: FoundRun[] = [];
  const problems: FolderProblem[] = [];
  for (const folder of folders) {
    try {
      runs.push({ folder, record: await readRunRecord(folder), notes: await readRunNotes(folder) });
    } catch (error) {
      problems.push({ folder, message: messageOf(error) });
    }
  }
  const isCopy = ({ folder, record }: FoundRun): number => Number(basename(folder) !== record.id);
  return { runs: runs.sort((a, b) => isCopy(a) - isCopy(b)), problems };
}

async function readExternal(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, path, 'read');
  }
}

import { appendFileSync, closeSync, existsSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { messageOf } from '../../../core/text/errors.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import type { homePaths } from '../home.ts';
import { readRunRecord, runPaths } from './run-folder.ts';
import { readNotesIfWhole, type RunNotes } from './run-notes.ts';

type HomePaths = ReturnType<typeof homePaths>;

/** What could not be read of a folder of a run. */
export interface FolderProblem {
  folder: string;
  message: string;
}

/** Whether a folder holds a run, or one that has lost its record: events come after the record. */
export function holdsRun(folder: string): boolean {
  const { record, events } = runPaths(folder);
  return existsSync(record) || existsSync(events);
}

/**
 * Records a folder that is not directly in `runs/`, so that a rebuilt index finds it. Recording it twice is harmless.
 */
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
  /** Why its notes are left out; null if they are not. */
  notesProblem: string | null;
}

/**
 * Whether the folder has the name that it got with its run. A copy has another, as has a folder that the user chose.
 */
export function isOriginal({ folder, record }: FoundRun): boolean {
  return basename(folder) === record.id;
}

/** Reads a run's record and notes. @returns a problem if the record cannot be read */
export async function readFoundRun(folder: string): Promise<FoundRun | FolderProblem> {
  try {
    const record = await readRunRecord(folder);
    const { notes, problem } = await readNotesIfWhole(folder);
    return { folder, record, notes, notesProblem: problem };
  } catch (error) {
    return { folder, message: messageOf(error) };
  }
}

/** The recorded folders that are not in `runs/`. */
export async function readExternalFolders({ externalRuns: path }: HomePaths): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, path, 'read');
  }
}

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Search, type SearchLine, searchLineSchema, searchSchema } from '../../core/discovery/search.ts';
import { appendLines } from '../../core/node/append-lines.ts';
import { createFileExclusively, removeAsides } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { FileLock } from '../../core/node/file-lock.ts';
import { readPortions } from '../../core/node/read-lines.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { messageOf } from '../../core/text/errors.ts';
import { discoveryLock } from '../campaigns/locks.ts';
import { privateMode } from '../store/private-home.ts';
import { readOwnText } from '../../core/node/own-files.ts';

/** The folder in a search's folder for what the project's processes read or computed. */
export const poolFolder = 'pool';

/** Paths in the folder of a search. Formats: docs/formats.md. */
export function searchPaths(folder: string) {
  return {
    search: join(folder, 'discovery.json'),
    lines: join(folder, 'rounds.jsonl'),
    lock: discoveryLock(folder),
    /** The only folder to which the project's processes may write, apart from those of runs. */
    pool: join(folder, poolFolder),
    /** The predictions of the pool after each round of the first arm. */
    beliefs: join(folder, 'beliefs'),
    /** What a person is asked. */
    questions: join(folder, 'questions'),
    /** The run of each arm's last round. */
    runs: join(folder, 'runs'),
  };
}

/** Writes a new search. @throws Error if the folder holds one already */
export async function createSearch(folder: string, search: Search): Promise<void> {
  await makeFolder(folder, privateMode);
  const { search: path } = searchPaths(folder);
  if (await createFileExclusively(path, `${toJson(search, 2)}\n`)) return;
  throw new Error(
    `${folder} holds a search already. Choose another folder with --out, or continue it with tutti discover ` +
      `--resume ${folder}.`,
  );
}

/** @throws Error that says whether `discovery.json` is missing, damaged or of another format */
export async function readSearch(folder: string): Promise<Search> {
  const path = join(folder, 'discovery.json');
  const text = await readOwnText(folder, 'discovery.json').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw explainFileError(error, path, 'read');
    throw new Error(`${folder} holds no search: it has no discovery.json. tutti discover <project> begins one.`, {
      cause: error,
    });
  });
  return parse(searchSchema, text, path);
}

/** The whole lines of a search. A last line that a crash cut short is left out; its work is done again. */
export async function readLines(folder: string): Promise<SearchLine[]> {
  const { lines: path } = searchPaths(folder);
  const handle = await unlessMissing(open(path, 'r'));
  if (handle === null) return [];
  const lines: SearchLine[] = [];
  try {
    for await (const portion of readPortions(handle, 0)) {
      for (const text of portion.lines) if (!text.endsWith(cutShort)) lines.push(parse(searchLineSchema, text, path));
    }
  } finally {
    await handle.close();
  }
  return lines;
}

/** Ends a line that a crash cut short, so that a reader leaves it out. */
const cutShort = '\u0000';

/** Adds a line, which is on the disk when the promise resolves. */
export async function appendLine(folder: string, line: SearchLine): Promise<void> {
  await appendLines(searchPaths(folder).lines, [toJson(line)], { durable: true, closing: cutShort });
}

/**
 * Takes the lock of a search, which one process holds as long as it works on it.
 * @throws Error if another process works on it
 */
export function lockSearch(folder: string): FileLock {
  const lock = FileLock.tryTake(searchPaths(folder).lock);
  if (lock !== null) return lock;
  throw new Error(`Another process works on the search in ${folder}. Stop it there first, or begin another search.`);
}

/**
 * Removes the temporary files of processes that were killed while they worked on the search, whose lock this process
 * holds.
 */
export async function removeSearchAsides(folder: string): Promise<void> {
  const { beliefs, questions, pool } = searchPaths(folder);
  // Each run has a lock of its own.
  for (const place of [folder, beliefs, questions, pool]) await removeAsides(place);
}

function parse<T>(schema: z.ZodType<T>, text: string, path: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(`${path} is damaged: ${reason}\nRestore it from a copy.`, { cause: error });
  }
}

import { join } from 'node:path';
import { z } from 'zod';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { runEventSchema, runRecordSchema } from '../../../core/protocol/run/record.ts';
import type { RunEvent, RunRecord } from '../../../core/protocol/run/record.ts';
import { appendLines } from '../../../core/node/append-lines.ts';
import { createFileExclusively } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError, unlessMissing } from '../../../core/node/file-error.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import { readPortions } from '../../../core/node/read-lines.ts';
import { openOwnFile, readOwnText } from '../../../core/node/own-files.ts';
import { listOwnFolder, makeOwnFolder, writeOwnFile } from '../../../core/node/own-folders.ts';

/** Paths of the files and folders in a run's folder. Formats: docs/formats.md. */
export function runPaths(folder: string) {
  return {
    record: join(folder, 'run.json'),
    notes: join(folder, 'notes.json'),
    metrics: join(folder, 'metrics.csv'),
    metricsIndex: join(folder, 'metrics.index'),
    events: join(folder, 'events.jsonl'),
    devices: join(folder, 'devices.csv'),
    logs: join(folder, 'logs'),
    checkpoints: join(folder, 'checkpoints'),
    state: join(folder, 'state'),
    predictions: join(folder, 'predictions'),
    plots: join(folder, 'plots'),
  };
}

/** The folders in a run's folder that its workers write. Everything else there is the hub's. */
export const workerParts = ['checkpoints', 'models', 'state', 'predictions', 'plots'];

export function workerFolders(folder: string): string[] {
  return workerParts.map((name) => join(folder, name));
}

/**
 * Creates the folders that workers write, because processes are granted what is there.
 * @throws ForeignEntryError for a link or a file in place of one
 */
export async function makeWorkerFolders(folder: string): Promise<void> {
  for (const name of workerParts) await makeOwnFolder(folder, name);
}

/**
 * Creates the folder of a new run and writes its record. If several processes try at the same time, exactly one
 * succeeds.
 * @param fill writes other files of the run before its record
 * @throws Error if the folder already holds a run (which it names) or files of one
 */
export async function createRunFolder(
  folder: string,
  record: RunRecord,
  fill: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await makeRunFolder(folder);
  await refuseRemains(folder);
  await fill();
  if (!(await createFileExclusively(runPaths(folder).record, formatRecord(record)))) await refuseHeldFolder(folder);
}

/** Creates the folder of a run, unless it exists. */
export async function makeRunFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw explainFileError(error, folder, 'create the run folder');
  }
}

async function refuseRemains(folder: string): Promise<void> {
  const names = new Set((await listOwnFolder(folder, '.')).map(({ name }) => name));
  if (names.has('run.json')) return refuseHeldFolder(folder);
  const remains = ['metrics.csv', 'events.jsonl', 'checkpoints', 'state'].filter((name) => names.has(name));
  if (remains.length === 0) return;
  throw new Error(
    `${folder} holds ${remains.join(', ')} but no run.json: a new run would mix with what is left of another. ` +
      'Choose another folder with --out, or empty this one.',
  );
}

async function refuseHeldFolder(folder: string): Promise<never> {
  const held = await readRunRecord(folder);
  throw new Error(
    `${folder} already holds the run ${held.id} ("${held.name}", ${held.status}): a folder holds one run. ` +
      `Choose another folder with --out, or continue that run with \`tutti resume ${held.id}\`.`,
  );
}

/**
 * Reads `run.json`.
 * @throws Error that says whether the file is missing, is not whole, or does not follow the format
 */
export async function readRunRecord(folder: string): Promise<RunRecord> {
  const path = runPaths(folder).record;
  return parseRunRecord(await readRecordText(folder, path), path);
}

/**
 * Parses the text of a `run.json`.
 * @param path names it in errors
 * @throws Error that says whether it is not whole, or does not follow the format
 */
export function parseRunRecord(text: string, path: string): RunRecord {
  const parsed = runRecordSchema.safeParse(parseRecord(text, path));
  if (parsed.success) return parsed.data;
  throw new Error(
    `${path} does not follow the format of a run record (format 1):\n${z.prettifyError(parsed.error)}\n` +
      'Another version of Tutti may have written it: open the run with that version, or restore the file from a copy.',
  );
}

async function readRecordText(folder: string, path: string): Promise<string> {
  try {
    return await readOwnText(folder, 'run.json');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw explainFileError(error, path, 'read');
    throw new Error(
      `${folder} holds no run: it has no run.json. If it is lost, restore the file from a copy; \`tutti runs\` ` +
        'lists the runs and their folders.',
      { cause: error },
    );
  }
}

function parseRecord(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(
      `${path} is damaged (${text.length} characters, not whole JSON): the run cannot be opened. ` +
        'Restore the file from a copy; metrics.csv and the checkpoints beside it can be read without it.',
      { cause: error },
    );
  }
}

/** Replaces `run.json` as a whole. Callers await one write before the next, because the later rename wins. */
export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  await writeOwnFile(folder, 'run.json', formatRecord(record));
}

/**
 * Like {@link writeRunRecord}, for the hub that trains the run.
 * @param before the record as this hub wrote it last
 * @throws Error if another process has written the record since. One that cannot be read is replaced
 */
export async function replaceOwnRecord(folder: string, before: RunRecord, record: RunRecord): Promise<void> {
  await requireOwnRecord(folder, before);
  await writeRunRecord(folder, record);
}

/** @throws Error if another process has written the record since this one wrote it as `own` */
export async function requireOwnRecord(folder: string, own: RunRecord): Promise<void> {
  const found = await readRunRecord(folder).catch(() => null);
  if (found === null || isOfHub(found, own)) return;
  const writer = found.hub === null ? 'no process' : `process ${found.hub.pid} on ${found.hub.host}`;
  throw new Error(
    `${runPaths(folder).record} was written by another process meanwhile: it says ${found.status}, attempt ` +
      `${found.attempts.length} under ${writer}, and not ${own.status}, attempt ${own.attempts.length}. Two ` +
      'processes trained this run, or a copy was put over it, so this one writes it no more. Compare with a copy, or ' +
      'resume it.',
  );
}

function isOfHub(found: RunRecord, { hub, status, attempts }: RunRecord): boolean {
  if (found.hub?.socket !== hub?.socket || found.attempts.length !== attempts.length) return false;
  return hub !== null || found.status === status;
}

/** Writes what the project fitted on its training split. */
export async function writePreprocessing(folder: string, preprocessing: Preprocessing): Promise<void> {
  await writeOwnFile(folder, 'preprocessing.json', `${JSON.stringify(preprocessing, null, 2)}\n`);
}

function formatRecord(record: RunRecord): string {
  return `${toJson(record, 2)}\n`;
}

/**
 * Appends one line to `events.jsonl`.
 * @param options.durable flush to the disk before returning, for events that must survive a power cut
 */
export async function appendEvent(folder: string, event: RunEvent, options: { durable?: boolean } = {}): Promise<void> {
  await appendLines(runPaths(folder).events, [toJson(event)], options);
}

/**
 * Reads `events.jsonl` in the order written. A run without the file has no events. The last line is dropped if it has
 * no line break: it is still being written, or a crash cut it short.
 * @param onDamage called with the error of each damaged line, which is then skipped; without it the first damaged line
 * throws
 */
export async function readEvents(folder: string, onDamage: (damage: Error) => void = raise): Promise<RunEvent[]> {
  const path = runPaths(folder).events;
  const events: RunEvent[] = [];
  let number = 0;
  for await (const lines of linesOf(folder, 'events.jsonl')) {
    for (const line of lines) {
      const event = parseEventLine(line, `${path}, line ${(number += 1)}`);
      if (event instanceof Error) onDamage(event);
      else events.push(event);
    }
  }
  return events;
}

function raise(error: Error): never {
  throw error;
}

/**
 * Parses a whole line of `events.jsonl`.
 * @returns the event, or for a damaged line an error with `place`, the reason and the remedy
 */
export function parseEventLine(line: string, place: string): RunEvent | Error {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    return new Error(
      `${place} is not whole JSON: a crash cut it short, or it was changed afterwards. Remove the line, or ` +
        'restore the file from a copy.',
      { cause },
    );
  }
  const parsed = runEventSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return new Error(`${place} is not an event:\n${z.prettifyError(parsed.error)}\nCorrect or remove the line.`);
}

async function* linesOf(folder: string, path: string): AsyncGenerator<string[]> {
  try {
    const handle = await unlessMissing(openOwnFile(folder, path));
    if (handle === null) return;
    try {
      for await (const { lines } of readPortions(handle, 0)) yield lines;
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explainFileError(error, join(folder, path), 'read');
  }
}

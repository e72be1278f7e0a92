import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { runEventSchema, runRecordSchema } from '../../../core/protocol/run/record.ts';
import type { RunEvent, RunRecord } from '../../../core/protocol/run/record.ts';
import { appendLines } from '../metrics/append-lines.ts';
import { createFileExclusively, writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';

/** What a run's folder holds, by name. Formats: docs/formats.md. */
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

/**
 * Makes `folder` the home of a new run and writes its record; of several processes at a time exactly one succeeds.
 * @throws Error when the folder holds a run already, naming it, or remains of one
 */
export async function createRunFolder(folder: string, record: RunRecord): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw explainFileError(error, folder, 'create the run folder');
  }
  await refuseRemains(folder);
  if (!(await createFileExclusively(runPaths(folder).record, formatRecord(record)))) await refuseHeldFolder(folder);
}

async function refuseRemains(folder: string): Promise<void> {
  const names = new Set(await readdir(folder));
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

/** Reads `run.json`. @throws Error that says whether it is missing, cut short, or does not follow the format */
export async function readRunRecord(folder: string): Promise<RunRecord> {
  const path = runPaths(folder).record;
  const parsed = runRecordSchema.safeParse(parseRecord(await readRecordText(folder, path), path));
  if (parsed.success) return parsed.data;
  throw new Error(
    `${path} does not follow the format of a run record (format 1):\n${z.prettifyError(parsed.error)}\n` +
      'Another version of Tutti may have written it: open the run with that version, or restore the file from a copy.',
  );
}

async function readRecordText(folder: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw explainFileError(error, path, 'read');
    throw new Error(`${folder} holds no run: it has no run.json. \`tutti runs\` lists the runs and their folders.`, {
      cause: error,
    });
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

/** Replaces `run.json` as a whole. Callers await one write before the next: the later rename wins. */
export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  await writeFileAtomic(runPaths(folder).record, formatRecord(record));
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
 * Reads `events.jsonl` in the order written; a run without one has no events. Lines that a crash cut short (not whole
 * JSON) are left out. @throws Error naming the line that is JSON but no event
 */
export async function readEvents(folder: string): Promise<RunEvent[]> {
  const path = runPaths(folder).events;
  const lines = (await readEventText(path)).split('\n');
  return lines.flatMap((line, index) => parseEventLine(line, `${path}, line ${index + 1}`) ?? []);
}

/** One line of `events.jsonl`; null where it is empty or a crash cut it short. @throws Error that names `place` */
export function parseEventLine(line: string, place: string): RunEvent | null {
  const value = parseWholeLine(line);
  if (value === undefined) return null;
  const parsed = runEventSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${place} is not an event:\n${z.prettifyError(parsed.error)}\nCorrect or remove it.`);
}

async function readEventText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw explainFileError(error, path, 'read');
  }
}

function parseWholeLine(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

import { randomBytes } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { renameFlushed } from '../../core/node/atomic-file.ts';
import { readFreeBytes } from '../../core/node/disk-room.ts';
import { errorCode, explainFileError, folderFlags } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { messageOf } from '../../core/text/errors.ts';
import { formatBytes } from '../../core/text/numbers.ts';
import { homePaths } from '../store/home.ts';
import { endAttempt, isOpen } from '../store/index/recovery.ts';
import type { RunIndex } from '../store/index/run-index.ts';
import { appendEvent, parseRunRecord, writeRunRecord } from '../store/runs/run-folder.ts';
import { readRunNotes } from '../store/runs/run-notes.ts';
import { openRunArchive, type RunArchive } from './run-archive.ts';
import { readEntry, unpackRun } from './unpack-run.ts';

export interface ImportOptions {
  /**
   * The run's new folder; also for a copy of a run that is here. Default: in Tutti's home, with the run's id as its
   * name.
   */
  into?: string | undefined;
  /** The file's name for the user, if it differs from its path. */
  name?: string | undefined;
}

export interface ImportedRun {
  run: RunRow;
  /** Files of the ZIP that belong to no run. */
  leftOut: string[];
}

/** The run to import is here already. */
export class RunPresentError extends Error {
  override name = 'RunPresentError';
  readonly run: RunRow;

  constructor(run: RunRow) {
    super(
      `The run ${run.id} ("${run.name}") is here already, in ${run.folder}. Nothing was imported. ` +
        'Give a new folder with --into to import a copy of it.',
    );
    this.run = run;
  }
}

/** Room that is left on the disk. */
const reservedBytes = 100_000_000;
/** A run of 64 ranks and 100 attempts has a record of 2 MB. */
const maximumRecordBytes = 2 ** 26;

/**
 * Makes the run in a ZIP (`tutti export`) a run of this home. Writes it into a hidden folder, which becomes the run's
 * once everything in it was checked: nobody sees a part of it, and nothing is overwritten.
 * @throws Error that names the file and the reason; nothing of the run is then left
 */
export async function importRun(
  index: RunIndex,
  file: string,
  { into, name }: ImportOptions = {},
): Promise<ImportedRun> {
  const path = resolve(file);
  const archive = await openRunArchive(path, name);
  try {
    const record = await readRecord(archive);
    const folder = into === undefined ? ownFolder(index, record) : resolve(into);
    await requireFree(folder, archive.bytes);
    const aside = join(dirname(folder), `.${basename(folder)}.importing-${randomBytes(4).toString('hex')}`);
    await fillFolder(archive, record, { aside, folder, source: name ?? path });
    return { run: await index.find(folder), leftOut: archive.leftOut };
  } catch (error) {
    if (error instanceof RunPresentError) throw error;
    throw new Error(
      `${name ?? path} was not imported: ${messageOf(error).replaceAll(folderFlags, '--into or TUTTI_HOME')}`,
      { cause: error },
    );
  } finally {
    archive.zip.close();
  }
}

/**
 * The record of the run without its hub, which is on another machine or gone. An attempt that was training when the run
 * was exported ends there.
 */
async function readRecord({ zip, files }: RunArchive): Promise<RunRecord> {
  const entry = files.get('run.json');
  if (entry === undefined) throw new Error('it has no run.json.');
  const text = await readEntry(zip, 'run.json', entry, maximumRecordBytes);
  const record = { ...parseRunRecord(text, 'run.json'), hub: null };
  return isOpen(record) ? endAttempt(record, entry.getLastModDate().toISOString()) : record;
}

function ownFolder(index: RunIndex, { id }: RunRecord): string {
  const [present] = index.list({ ids: [id], limit: 1 });
  if (present !== undefined) throw new RunPresentError(present);
  return join(homePaths().runs, id);
}

/** @throws Error if the folder is used, or its disk has no room */
async function requireFree(folder: string, bytes: number): Promise<void> {
  const present = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, folder, 'import into');
  });
  if (present !== null && present.length > 0) {
    throw new Error(
      `${folder} is not empty (it holds ${present.slice(0, 3).join(', ')}): choose a new folder with --into.`,
    );
  }
  const freeBytes = await readFreeBytes(dirname(folder));
  if (bytes + reservedBytes > freeBytes) {
    throw new Error(
      `it unpacks to ${formatBytes(bytes)}, and ${dirname(folder)} has ${formatBytes(freeBytes)} of free ` +
        'space. Make room there, or choose another disk with --into.',
    );
  }
  // Not all systems rename a folder over an empty one.
  if (present !== null) await rmdir(folder);
}

async function fillFolder(
  archive: RunArchive,
  record: RunRecord,
  { aside, folder, source }: { aside: string; folder: string; source: string },
): Promise<void> {
  try {
    await makeFolder(aside);
    await unpackRun(archive, aside);
    // Also refuses damaged notes.
    await readRunNotes(aside);
    await appendEvent(aside, importEvent(record, source), { durable: true });
    await writeRunRecord(aside, record);
    await renameFlushed(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw error;
  }
}

function importEvent({ attempts }: RunRecord, source: string) {
  return {
    time: new Date().toISOString(),
    attempt: attempts.at(-1)?.attempt ?? 1,
    rank: null,
    kind: 'imported',
    epoch: null,
    step: null,
    message: `Imported from ${source}.`,
    data: { file: source },
  };
}

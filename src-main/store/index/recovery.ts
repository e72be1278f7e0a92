import { existsSync } from 'node:fs';
import { rmdir, stat } from 'node:fs/promises';
import { messageOf } from '../../../core/text/errors.ts';
import type { Remote, RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode, explainSystemError } from '../../../core/node/file-error.ts';
import { removeAsides } from '../../../core/node/atomic-file.ts';
import type { FileLock } from '../../../core/node/file-lock.ts';
import { lookAtHub, takeHubLock, tryHubLock } from '../runs/hub-lock.ts';
import type { FolderProblem } from '../runs/known-folders.ts';
import {
  appendEvent,
  createRunFolder,
  makeRunFolder,
  readRunRecord,
  runPaths,
  writeRunRecord,
} from '../runs/run-folder.ts';
import type { RunIndex } from './run-index.ts';

/** A run that this process trains from now on. */
export interface TakenRun {
  record: RunRecord;
  /** The record as the last attempt left it. */
  before: RunRecord;
  /** Held until the run has ended. */
  lock: FileLock;
}

/**
 * Creates a run that this process trains. If several processes try at the same time, exactly one succeeds.
 * @param fill writes the files that a forked run begins with, before the folder becomes a run; after an error the
 * folder is as it was
 * @returns its lock, held until the run has ended
 * @throws Error if the folder holds a run or files of one
 */
export async function createOwnRun(
  folder: string,
  record: RunRecord,
  fill: () => Promise<void> = () => Promise.resolve(),
): Promise<FileLock> {
  const isNew = !existsSync(folder);
  await makeRunFolder(folder);
  const lock = await takeHubLock(folder).catch(async (error: unknown) => {
    // Where there can be no lock, nothing of the refused run remains.
    if (isNew) await rmdir(folder).catch(() => undefined);
    throw error;
  });
  if (lock === null) throw await refusal(folder);
  try {
    await createRunFolder(folder, record, fill);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Takes over a run that no living hub trains, and changes its record. If several processes try at the same time,
 * exactly one succeeds.
 * @throws Error if a living hub trains it
 */
export async function takeOverRun(folder: string, change: (record: RunRecord) => RunRecord): Promise<TakenRun> {
  const lock = await takeHubLock(folder);
  if (lock === null) throw await refusal(folder);
  try {
    const before = await endAbandoned(folder);
    await removeRemains(folder);
    const record = change(before);
    await writeRunRecord(folder, record);
    return { record, before, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function refusal(folder: string): Promise<Error> {
  const { id, name, status, hub } = await readRunRecord(folder);
  const holder = hub === null ? 'another process' : `process ${hub.pid} on ${hub.host}`;
  return new Error(
    `The run ${id} ("${name}") is ${status} under ${holder}, which holds its lock: a run has one hub. ` +
      'Stop it there first, or start another run with --out.',
  );
}

/**
 * Marks a run that a dead hub left `created` or `running` as `interrupted`, with the last write to its files as its
 * end. Other runs stay unchanged.
 * @returns the present record
 * @throws Error if it cannot be told whether its hub is alive; the run then stays as it is
 */
export async function markInterrupted(folder: string): Promise<RunRecord> {
  const seen = await readRunRecord(folder);
  if (!isOpen(seen)) return seen;
  const sight = lookAtHub(folder);
  if (sight.kind === 'unknown') {
    throw new Error(`${sight.reason} Until then the run ${seen.id} counts as ${seen.status}.`);
  }
  const lock = sight.kind === 'free' ? tryHubLock(folder) : null;
  // Another process marks it now, or takes it over.
  if (lock === null) return readRunRecord(folder);
  try {
    return await endAbandoned(folder);
  } finally {
    lock.release();
  }
}

/**
 * Ends the open attempt of a run whose lock this process holds, so that its hub must be dead.
 * @returns the present record
 */
async function endAbandoned(folder: string): Promise<RunRecord> {
  const record = await readRunRecord(folder);
  if (!isOpen(record)) return record;
  if (record.remote !== undefined) return endCopy(folder, record, record.remote);
  const interrupted = endAttempt(record, await lastSignOfLife(folder));
  await removeRemains(folder);
  await writeRunRecord(folder, interrupted);
  await appendEvent(folder, interruptionEvent(record), { durable: true });
  return interrupted;
}

/** Workers leave at most 4 s after their hub, and may be saving until then. */
const workersGoneMs = 10_000;

/**
 * Removes the temporary files of processes that were killed while they wrote the run, whose lock this process holds.
 */
async function removeRemains(folder: string): Promise<void> {
  await removeAsides(folder);
  await removeAsides(folder, { isDeep: true, ageMs: workersGoneMs });
}

/** The process that kept the copy of a run has ended. The run itself may continue. */
async function endCopy(folder: string, record: RunRecord, remote: Remote): Promise<RunRecord> {
  if (remote.link === 'left') return record;
  const since = await lastSignOfLife(folder);
  const left: RunRecord = { ...record, hub: null, remote: { ...remote, link: 'left', since, reason: null } };
  await writeRunRecord(folder, left);
  return left;
}

export interface Recovery {
  /** Runs that were marked as interrupted now. */
  interrupted: RunRecord[];
  problems: FolderProblem[];
}

/**
 * Updates the index from the folders and marks abandoned runs. Every command that lists or opens runs calls it.
 * @param inBackground as for {@link RunIndex.refresh}
 */
export async function recoverRuns(
  index: RunIndex,
  inBackground?: Parameters<RunIndex['refresh']>[0],
): Promise<Recovery> {
  const problems = await index
    .refresh(inBackground)
    .catch((error: unknown) => [{ folder: index.path, message: messageOf(explainSystemError(error)) }]);
  const interrupted: RunRecord[] = [];
  for (const { folder } of index.list({ statuses: ['created', 'running'] })) {
    try {
      // The usual case, without reading the record.
      if (lookAtHub(folder).kind === 'held') continue;
      const record = await markInterrupted(folder);
      if (!isOpen(record)) index.upsert(record, folder);
      if (record.status === 'interrupted') interrupted.push(record);
    } catch (error) {
      problems.push({ folder, message: messageOf(error) });
    }
  }
  return { interrupted, problems };
}

/** Whether a run has not ended, according to its record. */
export function isOpen(record: RunRecord): boolean {
  return record.status === 'created' || record.status === 'running';
}

/** The record of a run whose open attempt ended at a time because its hub was gone. */
export function endAttempt(record: RunRecord, endedAt: string): RunRecord {
  return {
    ...record,
    status: 'interrupted',
    endedAt,
    hub: null,
    attempts: record.attempts.map((attempt) =>
      attempt.endedAt === null ? { ...attempt, endedAt, status: 'interrupted' } : attempt,
    ),
  };
}

/** The time of the last write to the run: closer to its end than the time of the recovery. */
async function lastSignOfLife(folder: string): Promise<string> {
  const { record, metrics, events } = runPaths(folder);
  const timesMs = await Promise.all([record, metrics, events].map(modificationTimeMs));
  return new Date(Math.max(...timesMs)).toISOString();
}

async function modificationTimeMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

function interruptionEvent(record: RunRecord) {
  const hub = record.hub === null ? 'The process that should have run it' : `Its hub (process ${record.hub.pid})`;
  return {
    time: new Date().toISOString(),
    attempt: record.attempts.at(-1)?.attempt ?? 1,
    rank: null,
    kind: 'interrupted',
    epoch: null,
    step: null,
    message: `${hub} ended without closing the run.`,
    data: {},
  };
}

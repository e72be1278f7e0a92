import { stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import { messageOf } from '../../../core/text/errors.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode } from '../../../core/node/file-error.ts';
import type { FolderProblem } from './known-folders.ts';
import { appendEvent, readRunRecord, runPaths, writeRunRecord } from './run-folder.ts';
import type { RunIndex } from '../index/run-index.ts';
import { withRunLock } from './run-lock.ts';

const CONNECT_TIMEOUT_MS = 500;

/** Whether the hub that a run names lives: its process exists, and nothing says that nobody listens on its socket any more. */
export async function isHubAlive(record: RunRecord): Promise<boolean> {
  if (record.hub === null) return false;
  // On another machine that shares this folder: nothing here can tell, so it is left alone.
  if (record.hub.host !== hostname()) return true;
  return processExists(record.hub.pid) && acceptsConnection(record.hub.socket);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return errorCode(error) === 'EPERM';
  }
}

/**
 * The system accepts connections for whoever listens, however busy, and refuses at once where nobody does. So a long wait is this
 * process's own, its event loop held up, and no sign of a dead hub.
 */
function acceptsConnection(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(socketPath);
  socket.setTimeout(CONNECT_TIMEOUT_MS);
  socket.once('connect', () => resolve(true));
  socket.once('timeout', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/**
 * Changes the record of a run that no living hub runs; of several processes that try at a time exactly one succeeds,
 * provided that `change` names a hub whose socket listens already.
 * @throws Error when a living hub runs it
 */
export async function takeOverRun(folder: string, change: (record: RunRecord) => RunRecord): Promise<RunRecord> {
  return withRunLock(folder, async () => {
    const record = await readRunRecord(folder);
    if (await isHubAlive(record)) {
      throw new Error(
        `The run ${record.id} ("${record.name}") is ${record.status} under process ${record.hub?.pid}: a run has one hub. ` +
          'Stop it there first, or start another run with --out.',
      );
    }
    const changed = change(record);
    await writeRunRecord(folder, changed);
    return changed;
  });
}

/**
 * Marks a run that a dead hub left `created` or `running` as `interrupted`, with the last sign of life as its end. Any other
 * run, above all one whose hub lives, stays as it is.
 * @returns the record as it is now
 */
export async function markInterrupted(folder: string): Promise<RunRecord> {
  const seen = await readRunRecord(folder);
  if (!isOpen(seen) || (await isHubAlive(seen))) return seen;
  return withRunLock(folder, async () => {
    const record = await readRunRecord(folder);
    if (!isOpen(record) || (await isHubAlive(record))) return record;
    const interrupted = endAttempt(record, await lastSignOfLife(folder));
    await writeRunRecord(folder, interrupted);
    await appendEvent(folder, interruptionEvent(record), { durable: true });
    return interrupted;
  });
}

export interface Recovery {
  /** Runs that were found abandoned just now. */
  interrupted: RunRecord[];
  problems: FolderProblem[];
}

/** Brings the index in line with the folders and marks abandoned runs: for every command that lists or opens runs. */
export async function recoverRuns(index: RunIndex): Promise<Recovery> {
  const problems = await index.refresh();
  const interrupted: RunRecord[] = [];
  for (const { folder } of index.list({ status: ['created', 'running'] })) {
    try {
      const record = await markInterrupted(folder);
      index.upsert(record, folder);
      if (record.status === 'interrupted') interrupted.push(record);
    } catch (error) {
      problems.push({ folder, message: messageOf(error) });
    }
  }
  return { interrupted, problems };
}

/** Whether a run has not ended, as far as its record knows. */
export function isOpen(record: RunRecord): boolean {
  return record.status === 'created' || record.status === 'running';
}

function endAttempt(record: RunRecord, endedAt: string): RunRecord {
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

/** When the dead hub last wrote to the run: nearer to its end than the moment it was noticed. */
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
  const hub = record.hub === null ? 'The process that was to run it' : `Its hub (process ${record.hub.pid})`;
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

import { stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import { messageOf } from '../../../core/text/errors.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { errorCode } from '../../../core/node/file-error.ts';
import type { FolderProblem } from '../runs/known-folders.ts';
import { appendEvent, readRunRecord, runPaths, writeRunRecord } from '../runs/run-folder.ts';
import type { RunIndex } from './run-index.ts';
import { withRunLock } from '../runs/run-lock.ts';

const CONNECT_TIMEOUT_MS = 500;

/** Whether the hub of a run is alive: its process exists, and its socket does not refuse connections. */
export async function isHubAlive(record: RunRecord): Promise<boolean> {
  if (record.hub === null) return false;
  // A hub on another machine that shares this folder cannot be checked from here, so it counts as alive.
  if (record.hub.host !== hostname()) return true;
  return processExists(record.hub.pid) && acceptsConnection(record.hub.socket);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process cannot be signalled, but it exists.
    return errorCode(error) === 'EPERM';
  }
}

/**
 * The system accepts connections for a listening process even if it is busy, and refuses them at once if no process listens. So a
 * timeout is inconclusive: it means that this process's event loop was blocked, not that the hub is dead.
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
 * Changes the record of a run that no living hub runs. If several processes try at the same time, exactly one succeeds, provided that
 * `change` names a hub whose socket already listens.
 * @throws Error if a living hub runs it
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
 * Marks a run that a dead hub left `created` or `running` as `interrupted`, with the last write to its files as its end. Other runs
 * stay unchanged.
 * @returns the present record
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
  /** Runs that were marked as interrupted now. */
  interrupted: RunRecord[];
  problems: FolderProblem[];
}

/** Updates the index from the folders and marks abandoned runs. Every command that lists or opens runs calls it. */
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

/** Whether a run has not ended, according to its record. */
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { openOwnFile } from '../../core/node/own-files.ts';
import { makeOwnFolder } from '../../core/node/own-folders.ts';
import type { PlainObject } from '../../core/options/index.ts';
import type { RunStatus } from '../../core/protocol/run/record.ts';
import { type Channel, channelOver, hubPipe } from '../../core/protocol/wire/channel.ts';
import { frameOfValue, valueOfFrame } from '../../core/protocol/wire/value-frame.ts';
import { entryFile } from '../processes/app-files.ts';
import { nodeBinary, nodeFlags, startChild } from '../processes/node-process.ts';
import { tuttiHome } from '../store/home.ts';
import { holdsRun } from '../store/runs/known-folders.ts';
import { makeRunFolder, runPaths } from '../store/runs/run-folder.ts';
import type { PlannedFork } from './fork-run.ts';
import type { PlannedRun } from './plan-run.ts';

/** What a detached hub trains. */
export type DetachedJob =
  | { kind: 'start'; folder: string; planned: PlannedRun }
  | { kind: 'fork'; folder: string; planned: PlannedFork }
  | { kind: 'resume'; folder: string; override: PlainObject; rank: number | undefined; currentSource?: boolean };

/** What a detached hub reports while the process that started it listens. */
export type DetachedReport =
  /** All its ranks are ready and train. */
  | { type: 'ready' }
  | { type: 'ended'; status: RunStatus; error: string | null }
  /** The run could not start. */
  | { type: 'failed'; message: string };

export type DetachedStart = Exclude<DetachedReport, { type: 'failed' }> & { pid: number };

/** The output of a run's detached hub. */
export const hubLogPath = (folder: string): string => join(runPaths(folder).logs, 'hub.log');

/**
 * Starts a process of `detached.ts` that trains a run in a session without a terminal. Its output goes to the run's
 * folder.
 * @param signal aborts the run as long as its ranks are not ready
 * @returns once all ranks are ready, or the run has ended before
 * @throws Error with the reason if the run could not start
 */
export async function startDetached(job: DetachedJob, signal?: AbortSignal): Promise<DetachedStart> {
  const log = await openLog(job.folder);
  try {
    return await startWithLog(job, log, signal);
  } finally {
    await log.close();
  }
}

async function startWithLog(job: DetachedJob, log: FileHandle, signal?: AbortSignal): Promise<DetachedStart> {
  const start = (): ChildProcess =>
    spawn(nodeBinary(), [...nodeFlags, entryFile('src-main/detached')], {
      env: detachedEnvironment(),
      detached: true,
      windowsHide: true,
      // The last is the pipe `hubPipe`: JSON could not represent the infinities of a configuration.
      stdio: ['ignore', log.fd, log.fd, 'overlapped'],
    });
  const child = startChild(nodeBinary(), start);
  const channel = channelOver(child.stdio[hubPipe] as Socket);
  const abort = (): void => void child.kill('SIGTERM');
  signal?.addEventListener('abort', abort);
  try {
    channel.send(frameOfValue(job));
    const report = await firstReport(child, channel, job.folder);
    if (report.type === 'failed') throw new Error(report.message);
    return { ...report, pid: child.pid ?? 0 };
  } finally {
    signal?.removeEventListener('abort', abort);
    channel.close();
    child.unref();
  }
}

/** Nothing is written to a folder in which another run may be: the hub then refuses it. */
async function openLog(folder: string): Promise<FileHandle> {
  if (!holdsRun(folder)) await makeRunFolder(folder);
  await makeOwnFolder(folder, 'logs');
  const log = await openOwnFile(folder, relative(folder, hubLogPath(folder)), 'append');
  await log.chmod(0o600);
  return log;
}

/** The hub outlives what started it, and may be in another folder than its variables were written for. */
function detachedEnvironment(): NodeJS.ProcessEnv {
  const { TUTTI_LAUNCHER: _launcher, TUTTI_DATA, ...environment } = process.env;
  return {
    ...environment,
    TUTTI_HOME: tuttiHome(),
    ...(TUTTI_DATA === undefined || TUTTI_DATA === '' ? {} : { TUTTI_DATA: resolve(TUTTI_DATA) }),
  };
}

async function firstReport(child: ChildProcess, channel: Channel, folder: string): Promise<DetachedReport> {
  const listening = new AbortController();
  const { signal } = listening;
  const reported = new Promise<DetachedReport>((resolve) =>
    channel.onFrame((frame) => resolve(valueOfFrame(frame) as DetachedReport)),
  );
  const ended = once(child, 'exit', { signal }).then(([code, by]): DetachedReport => {
    const how = by === null ? `with exit code ${code}` : `by ${by}`;
    return {
      type: 'failed',
      message: `The detached process ended ${how} before its ranks were ready. Its output: ${hubLogPath(folder)}`,
    };
  });
  // A process that could not be started emits "error", which rejects.
  try {
    return await Promise.race([reported, ended]);
  } finally {
    listening.abort();
    await Promise.allSettled([ended]);
  }
}

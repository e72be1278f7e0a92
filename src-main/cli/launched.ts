import { availableParallelism, cpus, hostname } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { mpiOfLauncher, mpiReplySchema, readTask, type Task, whyNotOfLauncher } from '../../core/launch/launcher.ts';
import { detectDevices } from '../devices/detect.ts';
import type { Hub } from '../hub/hub.ts';
import type { NodeRange, TaskOffer } from '../nodes/place.ts';
import { TaskAgent } from '../nodes/task-agent.ts';
import { TaskServer } from '../nodes/task-server.ts';
import { exitCodes, toUsageError, UsageError } from './errors.ts';
import { withHub } from './open-hub.ts';
import { messageOf } from '../../core/text/errors.ts';
import { askProcess } from '../processes/standing-process.ts';
import { probeMpiEntry } from '../processes/node-process.ts';

/** A shared file system is slow when many tasks read it at the same time. */
const timeoutMs = 60_000;

/** Why the workers of this task cannot exchange arrays by MPI; the end of a sentence. Null if they can. */
async function whyNoMpi(): Promise<string | null> {
  const mpi = mpiOfLauncher(process.env);
  if (mpi === null) return 'no launcher of MPI has started it';
  try {
    const subject = 'MPI could not be looked for';
    const reply = await askProcess({ entry: probeMpiEntry, args: [], grant: null, timeoutMs, subject });
    return whyNotOfLauncher(mpi, mpiReplySchema.parse(reply));
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * How long the tasks of a launch wait for each other: launchers start them within seconds, and loaded file systems
 * within minutes.
 */
const joinMs = 300_000;
const { version } = packageJson;

/**
 * Whether this process is alone, or the first of those that a launcher started.
 * @throws UsageError if the launcher's variables contradict each other
 */
export function isFirstTask(): boolean {
  return (ownTask()?.worldRank ?? 0) === 0;
}

/**
 * Calls `use` with a hub that places runs on all tasks of the launch, or on this machine where there is none.
 * @returns its exit code
 */
export async function inLaunch(use: (hub: Hub) => Promise<number>, nodes: NodeRange | null = null): Promise<number> {
  const task = ownTask();
  if (task === null) return withHub(use);
  const tasks = await TaskServer.open({ task, ...(await lookAround(task)), version, nodes, joinMs });
  let exitCode: number = exitCodes.failed;
  try {
    await tasks.gather();
    exitCode = await withHub(use, tasks);
    return exitCode;
  } finally {
    await tasks.close(exitCode);
  }
}

/** Serves the first task of the launch, whose process has the hub. @returns the exit code of the launch */
export async function serveTask(): Promise<number> {
  const task = ownTask();
  if (task === null) throw new Error('This process was started alone, so there is no other task to serve.');
  const { own, whyNoMpi } = await lookAround(task);
  return TaskAgent.serve({ task, offer: own, whyNoMpi, version, joinMs });
}

/** @throws UsageError on several nodes. @param option what this process alone can do */
export function refuseInLaunch({ tasks }: Hub, option: string): void {
  if (tasks === null) return;
  throw new UsageError(
    `${option} is for one machine, and this process is one of several that a launcher started. Omit it.`,
  );
}

function ownTask(): Task | null {
  try {
    return readTask(process.env);
  } catch (error) {
    throw toUsageError(error);
  }
}

/** What this task offers to the launch. */
async function lookAround(task: Task): Promise<{ own: TaskOffer; whyNoMpi: string | null }> {
  const [own, reason] = await Promise.all([offerOf(task), whyNoMpi()]);
  return { own, whyNoMpi: reason };
}

async function offerOf({ worldRank, localRank, localSize, node }: Task): Promise<TaskOffer> {
  const { devices } = await detectDevices({ coreLoadWindowMs: 200 });
  return {
    worldRank,
    localRank,
    localSize,
    node: process.env.TUTTI_NODE ?? node ?? hostname(),
    devices,
    isBound: availableParallelism() < cpus().length,
  };
}

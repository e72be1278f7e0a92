import { createHash } from 'node:crypto';
import { writeOwnFile } from '../../core/node/own-folders.ts';
import { type Labels, labelsFile } from '../../core/protocol/run/pool-task.ts';
import { RunSession } from '../runs/attempt/run-session.ts';
import type { WorkerHost } from '../runs/workers/worker-host.ts';
import type { TaskServer } from '../nodes/task-server.ts';
import type { WorkerSeat } from '../runs/workers/shared-workers.ts';
import type { RunListener } from '../runs/recording/run-recorder.ts';
import { createOwnRun } from '../store/index/recovery.ts';
import type { RunIndex } from '../store/index/run-index.ts';
import { newRecord } from './new-record.ts';
import type { PlannedRun } from './plan-run.ts';

/** What a new run has beside its plan. */
export interface RunExtras {
  /** What it trains on of the project's training split, which is then a pool; absent: all of it. */
  labels?: Labels;
  /** Keeps its worker processes for the next run; absent: they end with this one. */
  host?: WorkerHost;
  /** Where it shares a process with other runs; absent or null: it has its own. */
  seat?: WorkerSeat | null;
  /** The tasks of a launch on several nodes; absent or null: it trains on this machine. */
  tasks?: TaskServer | null;
}

/** A session that creates a planned run when it is run. */
export function startRun(
  planned: PlannedRun,
  index: RunIndex,
  listener: RunListener,
  { labels, host, seat = null, tasks = null }: RunExtras = {},
): RunSession {
  const { folder } = planned;
  const text = labels === undefined ? null : `${JSON.stringify(labels)}\n`;
  return new RunSession({
    folder,
    index,
    listener,
    resume: false,
    ...(host && { host }),
    seat,
    tasks,
    claim: async (hub) => {
      const record = { ...(await newRecord(planned)), ...labelsOf(labels, text), hub };
      const fill = async (): Promise<void> => {
        if (text !== null) await writeOwnFile(folder, labelsFile, text);
      };
      return { record, before: null, lock: await createOwnRun(folder, record, fill) };
    },
  });
}

function labelsOf(labels: Labels | undefined, text: string | null) {
  if (labels === undefined || text === null) return {};
  return { labels: { count: labels.rows.length, sha256: createHash('sha256').update(text).digest('hex') } };
}

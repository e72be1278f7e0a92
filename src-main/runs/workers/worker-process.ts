import type { TaskRun } from '../../../core/protocol/run/messages.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { WorkerChild } from './worker-child.ts';

/** A process that trains some ranks of a run, as their handles see it. */
export interface RankProcess {
  /** Null where it could not be started. */
  readonly pid: number | null;
  /**
   * Resolves when the process has ended, or its ranks have left it to others, with a description: `exited with code 1`.
   */
  readonly ended: Promise<string>;
  /** How long it has waited for a processor so far, while other programs had it; always 0 for one of another node. */
  readonly waitedMs: () => number;
  /** Calls `dismiss` once none of the ranks needs the process any more: one may still draw figures. */
  leave(dismiss: () => void): void;
  /** A rank has left the process, which continues without it. */
  vacate(): void;
  /** Ends the process, or only these ranks where it trains others too. @param abandon tells the rank */
  kill(abandon: () => void): void;
}

/** A process that is started for a run: one of this machine, or of another node. */
type StartedProcess = Pick<WorkerChild, 'pid' | 'ended' | 'waitedMs' | 'begin' | 'rest' | 'kill'>;

export interface WorkerProcessOptions {
  child: StartedProcess;
  run: TaskRun;
  /** Logs of its ranks. Each gets all the output. */
  logs: readonly LogFile[];
}

/** A worker process as one run uses it, for one or more ranks, each of which has a `WorkerHandle`. */
export class WorkerProcess implements RankProcess {
  readonly ended: Promise<string>;
  readonly waitedMs: () => number;
  private readonly child: StartedProcess;
  private readonly rankCount: number;
  private readonly leaving: (() => void)[] = [];
  private readonly vacated = Promise.withResolvers<string>();
  private vacatedCount = 0;

  constructor({ child, run, logs }: WorkerProcessOptions) {
    this.child = child;
    this.rankCount = run.ranks.length;
    this.waitedMs = child.waitedMs;
    this.ended = Promise.race([child.ended, this.vacated.promise]);
    child.begin({ runs: [run] }, logs);
  }

  get pid(): number | null {
    return this.child.pid;
  }

  leave(dismiss: () => void): void {
    this.leaving.push(dismiss);
    if (this.leaving.length === this.rankCount) for (const call of this.leaving) call();
  }

  /** It waits for the next run once all ranks have left. */
  vacate(): void {
    this.vacatedCount += 1;
    if (this.vacatedCount < this.rankCount) return;
    this.child.rest();
    this.vacated.resolve('waits for the next run');
  }

  /** Ends the process by SIGTERM, and by SIGKILL if it is still there 500 ms later. */
  kill(): void {
    this.child.kill();
  }
}

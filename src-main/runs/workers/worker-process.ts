import type { WorkerTask } from '../../../core/protocol/run/messages.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { WorkerChild } from './worker-child.ts';

export interface WorkerProcessOptions {
  child: WorkerChild;
  /** The number of ranks that it trains. */
  ranks: number;
  task: WorkerTask;
  /** Logs of its ranks. Each gets all the output. */
  logs: readonly LogFile[];
}

/** A worker process as one run uses it, for one or more ranks, each of which has a `WorkerHandle`. */
export class WorkerProcess {
  /** Resolves when the process has ended, or its ranks have left it to the next run, with a description: `exited with code 1`. */
  readonly ended: Promise<string>;
  private readonly child: WorkerChild;
  private readonly rankCount: number;
  private readonly leaving: (() => void)[] = [];
  private readonly vacated = Promise.withResolvers<string>();
  private vacatedCount = 0;

  constructor({ child, ranks, task, logs }: WorkerProcessOptions) {
    this.child = child;
    this.rankCount = ranks;
    this.ended = Promise.race([child.ended, this.vacated.promise]);
    child.begin(task, logs);
  }

  get pid(): number | null {
    return this.child.pid;
  }

  /** Calls `dismiss` once no rank needs the process any more: one may still draw figures. */
  leave(dismiss: () => void): void {
    this.leaving.push(dismiss);
    if (this.leaving.length === this.rankCount) for (const call of this.leaving) call();
  }

  /** A rank has left the process, which waits for the next run once all have. */
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

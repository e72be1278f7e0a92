import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { LogFile } from '../recording/log-file.ts';
import { childEnvironment, workerCommand } from '../../processes/node-process.ts';

export interface WorkerProcessOptions {
  /** Of the ranks that it trains, all on one device. */
  placements: readonly Placement[];
  /** The only core it may run on; null: any. */
  core: number | null;
  socketPath: string;
  token: string;
  /** Of the ranks: what it prints concerns all of them. */
  logs: readonly LogFile[];
}

/** From a polite signal to one that cannot be ignored. */
const killAfterMs = 500;

/** A process of `workers/entries/worker.ts` with its ranks, one or several. Each of these has a `WorkerHandle`. */
export class WorkerProcess {
  /** Resolves with how it went when the process is gone: `exited with code 1`. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly leaving: (() => void)[] = [];
  private readonly rankCount: number;
  private killTimer: NodeJS.Timeout | null = null;

  constructor(options: WorkerProcessOptions) {
    this.rankCount = options.placements.length;
    this.child = start(options);
    this.ended = new Promise<string>((resolve) => {
      this.child.on('error', (error) => resolve(`could not be started: ${error.message}`));
      // `close`, not `exit`: the last lines of its output have been read by then.
      this.child.on('close', (code, signal) => resolve(describeEnd(code, signal)));
    });
    void this.ended.finally(() => {
      if (this.killTimer !== null) clearTimeout(this.killTimer);
    });
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  /** Calls `dismiss` once none of the ranks needs the process any more: that of one may still draw figures. */
  leave(dismiss: () => void): void {
    this.leaving.push(dismiss);
    if (this.leaving.length === this.rankCount) for (const call of this.leaving) call();
  }

  /** Ends the process: first with SIGTERM, then by force. */
  kill(): void {
    this.child.kill('SIGTERM');
    this.killTimer ??= setTimeout(() => this.child.kill('SIGKILL'), killAfterMs);
  }
}

function start({ placements, core, socketPath, token, logs }: WorkerProcessOptions): ChildProcess {
  const ranks = placements.map(({ rank }) => rank).join(',');
  // A session of its own: Ctrl-C in the terminal reaches the hub, which then stops the ranks jointly.
  const [command, ...args] = workerCommand([socketPath, ranks, token], core);
  const child = spawn(command, args, {
    env: childEnvironment(placements[0].device),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => logs.forEach((log) => log.write(line)));
  }
  return child;
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}

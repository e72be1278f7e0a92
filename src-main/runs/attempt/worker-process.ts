import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { messageOf } from '../../../core/text/errors.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { LogFile } from '../recording/log-file.ts';
import { confinedEnvironment, confinementFlags, type Grant } from '../../processes/confined.ts';
import { hasDeathSignal, workerCommand } from '../../processes/node-process.ts';
import { copyLines, type LineSink } from '../../processes/output-lines.ts';
import { ProcessEnd } from './process-end.ts';

export interface WorkerProcessOptions {
  /** Placements of the ranks that it trains, all on one device. */
  placements: readonly Placement[];
  /** The only core that it may run on; null: any. */
  core: number | null;
  /** What it gets, because it runs the project's code. */
  grant: Grant;
  socketPath: string;
  token: string;
  /** Logs of its ranks. Each gets all the output. */
  logs: readonly LogFile[];
}

/** Time from SIGTERM to SIGKILL. */
const killAfterMs = 500;

/** A process of `workers/entries/worker.ts` with one or more ranks, each of which has a `WorkerHandle`. */
export class WorkerProcess {
  /** Resolves when the process has ended, with a description: `exited with code 1`. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly leaving: (() => void)[] = [];
  private readonly rankCount: number;
  private killTimer: NodeJS.Timeout | null = null;

  constructor(options: WorkerProcessOptions) {
    this.rankCount = options.placements.length;
    this.child = start(options);
    const cause = new ProcessEnd();
    const sinks = [...options.logs, cause];
    const outputs = [this.child.stdout, this.child.stderr].map((stream) => keepOutput(stream, sinks));
    const end = new Promise<() => string>((resolve) => {
      this.child.on('error', (error) => resolve(() => `could not be started: ${error.message}`));
      this.child.on('close', (code, signal) => resolve(() => cause.describe(code, signal)));
    });
    // The last lines of its output may say why it ended.
    this.ended = end.then(async (describe) => {
      await Promise.all(outputs);
      return describe();
    });
    void this.ended.finally(() => {
      if (this.killTimer !== null) clearTimeout(this.killTimer);
    });
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  /** Calls `dismiss` once no rank needs the process any more: one may still draw figures. */
  leave(dismiss: () => void): void {
    this.leaving.push(dismiss);
    if (this.leaving.length === this.rankCount) for (const call of this.leaving) call();
  }

  /** Ends the process by SIGTERM, and by SIGKILL if it is still there 500 ms later. */
  kill(): void {
    this.child.kill('SIGTERM');
    this.killTimer ??= setTimeout(() => this.child.kill('SIGKILL'), killAfterMs);
  }
}

function start({ placements, core, grant, socketPath, token }: WorkerProcessOptions): ChildProcess {
  const ranks = placements.map(({ rank }) => rank).join(',');
  const flags = confinementFlags(grant, { needsThreads: !hasDeathSignal() });
  // In a separate session, so that Ctrl-C in the terminal only reaches the hub, which then stops the ranks jointly.
  const [command, ...args] = workerCommand([socketPath, ranks], core, flags);
  const child = spawn(command, args, {
    env: confinedEnvironment(grant, placements[0].device),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  // Other users see command lines, so the token goes through its input. A process that ends before it reads it is reported as such.
  child.stdin.on('error', () => undefined).end(token);
  return child;
}

/** Copies the lines of an output of the process until it ends. A process that did not start has no output. */
async function keepOutput(stream: Readable | null, sinks: readonly LineSink[]): Promise<void> {
  try {
    if (stream !== null) await copyLines(stream, sinks);
  } catch (error) {
    for (const sink of sinks) sink.write(`(hub) The rest of the output could not be read: ${messageOf(error)}`);
  }
}

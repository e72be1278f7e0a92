import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { explainSystemError } from '../../../core/node/file-error.ts';
import { ProcessorTime } from '../../../core/node/time-limit.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { WorkerTask } from '../../../core/protocol/run/messages.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { passedDescriptor } from '../../trust/mpi-grant.ts';
import { confinedEnvironment, confinementFlags, type Grant } from '../../processes/confined.ts';
import { hasDeathSignal, workerCommand } from '../../processes/node-process.ts';
import { copyLines, type LineSink } from '../../processes/output-lines.ts';
import { memoryKills } from '../../processes/memory-kills.ts';

/** What V8 prints before it aborts a process whose heap is full, or which the system gives no more memory. */
const memoryIsFull = /FATAL ERROR: .*(heap limit|out of memory|Allocation failed)/i;

/**
 * Finds out why a worker process ended, from its exit, from what it printed, and from the kernel's counter of
 * out-of-memory kills.
 */
export class ProcessEnd implements LineSink {
  readonly #countKills: () => number | null;
  readonly #killsBefore: number | null;
  #isMemoryFull = false;

  constructor(countKills: () => number | null = memoryKills) {
    this.#countKills = countKills;
    this.#killsBefore = countKills();
  }

  /** Takes every line that the process prints. */
  write(line: string): void {
    this.#isMemoryFull ||= memoryIsFull.test(line);
  }

  async drained(): Promise<void> {}

  /** The end of a sentence: `was killed by SIGKILL`, `exited with code 1`, `ran out of memory: ...`. */
  describe(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#isMemoryFull && code !== 0) {
      return (
        "ran out of memory: JavaScript's heap reached its limit. Keep data in typed arrays, which lie outside " +
        'it, keep less, or raise memoryLimitBytes'
      );
    }
    if (signal === null) return `exited with code ${code}`;
    const killed = `was killed by ${signal}`;
    if (signal !== 'SIGKILL' || !this.#hasKernelKilled()) return killed;
    return (
      `${killed} when memory ran out: the kernel's out-of-memory killer ended a process meanwhile. Use fewer ` +
      'members at a time or smaller batches'
    );
  }

  #hasKernelKilled(): boolean {
    const kills = this.#countKills();
    return kills !== null && this.#killsBefore !== null && kills > this.#killsBefore;
  }
}

export interface WorkerChildOptions {
  /** Placements of the ranks that it trains, all on one device. */
  placements: readonly Placement[];
  /** The only core that it may run on; null: any. */
  core: number | null;
  /** What it gets, because it runs the project's code. */
  grant: Grant;
  /** Whether it stays after a run, to train the same ranks of the next one. */
  isStaying: boolean;
}

/** Time from SIGTERM to SIGKILL. */
const killAfterMs = 500;

/**
 * A process of `workers/entries/worker.ts`. It trains the ranks of one run, of several at a time or, where it stays, of
 * several one after the other.
 */
export class WorkerChild {
  /** Resolves when the process has ended, with a description: `exited with code 1`. */
  readonly ended: Promise<string>;
  /** How long it, and its keeper, have waited for a processor so far, while other programs had it. */
  readonly waitedMs: () => number;
  readonly #child: ChildProcess;
  readonly #isStaying: boolean;
  #hasEnded = false;
  /** What takes the lines that it prints: the logs of the present run's ranks. */
  #logs: readonly LineSink[] = [];
  #killTimer: NodeJS.Timeout | null = null;

  constructor(options: WorkerChildOptions) {
    this.#isStaying = options.isStaying;
    this.#child = start(options);
    const { pid } = this.#child;
    this.waitedMs = pid === undefined ? () => 0 : new ProcessorTime(pid).waitedMs;
    // A process that ends before it reads its task is reported as such.
    this.#child.stdin?.on('error', () => undefined);
    const cause = new ProcessEnd();
    const sinks: LineSink[] = [
      cause,
      {
        write: (line) => this.#logs.forEach((log) => log.write(line)),
        drained: async () => void (await Promise.all(this.#logs.map((log) => log.drained()))),
      },
    ];
    const outputs = [this.#child.stdout, this.#child.stderr].map((stream) => keepOutput(stream, sinks));
    const end = new Promise<() => string>((resolve) => {
      this.#child.on('error', (error) =>
        resolve(() => `could not be started: ${messageOf(explainSystemError(error))}`),
      );
      this.#child.on('close', (code, signal) => resolve(() => cause.describe(code, signal)));
    });
    // The last lines of its output may say why it ended.
    this.ended = end.then(async (describe) => {
      this.#hasEnded = true;
      if (this.#killTimer !== null) clearTimeout(this.#killTimer);
      await Promise.all(outputs);
      return describe();
    });
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Whether it still runs, and nothing has asked it to end. */
  get isThere(): boolean {
    return !this.#hasEnded && this.#killTimer === null && this.#child.exitCode === null;
  }

  /** Lets it train the ranks of one run, or of several. @param logs of the ranks; each gets all the output */
  begin(task: WorkerTask, logs: readonly LineSink[]): void {
    this.#logs = logs;
    const line = `${JSON.stringify(task)}\n`;
    // Other users see command lines, so the token goes through its input.
    if (this.#isStaying) this.#child.stdin?.write(line);
    else this.#child.stdin?.end(line);
  }

  /** Lets further logs get its output from now on. */
  addLogs(logs: readonly LineSink[]): void {
    this.#logs = [...this.#logs, ...logs];
  }

  /** The run's logs are complete: what it prints from now on belongs to no run. */
  rest(): void {
    this.#logs = [];
  }

  /** Ends the process by SIGTERM, and by SIGKILL if it is still there 500 ms later. */
  kill(): void {
    this.#child.kill('SIGTERM');
    if (!this.#hasEnded) this.#killTimer ??= setTimeout(() => this.#child.kill('SIGKILL'), killAfterMs);
  }
}

function start({ placements, core, grant, isStaying }: WorkerChildOptions): ChildProcess {
  const ranks = placements.map(({ rank }) => rank).join(',');
  const flags = confinementFlags(grant, {
    needsThreads: !hasDeathSignal() || placements[0].threads !== undefined,
  });
  // In a separate session, so that Ctrl-C in the terminal only reaches the hub, which then stops the ranks jointly.
  const passed = passedDescriptor(grant.environment);
  const [command, ...args] = workerCommand([ranks, isStaying ? 'stays' : 'leaves'], core, flags, passed);
  return spawn(command, args, {
    env: confinedEnvironment(grant, placements[0].device, passed === null ? [] : [passed]),
    stdio: stdioWith(passed),
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

/** Pipes, and what the worker inherits, under the same number. */
function stdioWith(passed: number | null): ('pipe' | 'ignore' | number)[] {
  const pipes = ['pipe', 'pipe', 'pipe'] as const;
  return passed === null ? [...pipes] : [...pipes, ...Array<'ignore'>(passed - 3).fill('ignore'), passed];
}

/** Copies the lines of an output of the process until it ends. A process that did not start has no output. */
async function keepOutput(stream: Readable | null | undefined, sinks: readonly LineSink[]): Promise<void> {
  try {
    if (stream) await copyLines(stream, sinks);
  } catch (error) {
    for (const sink of sinks) sink.write(`(hub) The rest of the output could not be read: ${messageOf(error)}`);
  }
}

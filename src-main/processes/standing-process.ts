import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { explainSystemError } from '../../core/node/file-error.ts';
import { ProcessorTime, TimeLimit } from '../../core/node/time-limit.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { channelOver, hubPipe, type StreamChannel } from '../../core/protocol/wire/channel.ts';
import { frameOfValue, valueOfFrame } from '../../core/protocol/wire/value-frame.ts';
import { confinedEnvironment, confinementFlags, type Grant } from './confined.ts';
import { childEnvironment, dyingNode, nodeFlags, startChild, workerFlags } from './node-process.ts';

/** Only the end of what a process prints is kept, in UTF-16 code units. */
const keptOutput = 2 ** 16;

interface ProcessOptions {
  /** Module that the process runs. It answers each question with one message. */
  entry: string;
  args: readonly string[];
  /** What it gets, because it runs a project's code; null for a process that only runs Tutti's own. */
  grant: Grant | null;
  /** Whether it may start threads, although the project was not allowed to. They get what the process gets. */
  needsThreads?: boolean;
  /** The device that it computes on. */
  device?: Device;
  /** Variables in addition to those of every child process. */
  environment?: NodeJS.ProcessEnv;
}

export interface Question {
  /** Sent to the process; absent where it answers without being asked. */
  message?: object;
  /** Time in which the process waits for a processor does not count. */
  timeoutMs: number;
  /** What the user can do where the time does not suffice; a sentence. */
  remedy?: string;
  /**
   * Receives messages of the type `progress`, which come before the answer and start the time anew. A `doing` says what
   * it does from then on.
   */
  progress?: (message: object) => void;
  /** Aborts the process. */
  signal?: AbortSignal;
  /**
   * The start of the error message if the process gives no answer, such as "The project in ... could not be loaded".
   */
  subject: string;
}

interface Asked {
  question: Question;
  limit: TimeLimit;
  succeed: (answer: object) => void;
  fail: (reason: Error) => void;
}

/**
 * A Node process that answers questions, one at a time, until it is ended. On Linux with util-linux the kernel ends it
 * with the hub. The hub itself never loads a project's code.
 */
export class StandingProcess {
  readonly #child: ChildProcess;
  readonly #channel: StreamChannel;
  readonly #time: ProcessorTime | null;
  #asked: Asked | null = null;
  /** What it does, as its last message says. */
  #doing = 'starting';
  /** The sentence on a question that took it too long. */
  #overdue: string | null = null;
  #output = '';
  /** How it ended, such as "exit code 1"; null while it runs. */
  #ending: string | null = null;

  constructor({ entry, args, grant, device, environment, needsThreads = false }: ProcessOptions) {
    const [program, ...before] = dyingNode();
    const flags = grant === null ? nodeFlags : [...workerFlags, ...confinementFlags(grant, { needsThreads })];
    const start = (): ChildProcess =>
      spawn(program, [...before, ...flags, entry, ...args], {
        env: {
          ...(grant === null ? childEnvironment(device) : confinedEnvironment(grant, device, [hubPipe])),
          ...environment,
        },
        // The last is the pipe `hubPipe`. Node's own messages would be JSON, or V8's format, which differs between
        // Electron's V8 and that of the packaged Node. On Windows, pipes in both directions need `overlapped`;
        // elsewhere it is the same as `pipe`.
        stdio: ['ignore', 'pipe', 'pipe', 'overlapped'],
        windowsHide: true,
      });
    this.#child = startChild(program, start);
    const { pid } = this.#child;
    this.#time = pid === undefined ? null : new ProcessorTime(pid);
    this.#channel = channelOver(this.#child.stdio[hubPipe] as Socket);
    this.#channel.onFrame((frame) => this.#receive(valueOfFrame(frame) as object));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream
        ?.setEncoding('utf8')
        .on('data', (text: string) => (this.#output = (this.#output + text).slice(-keptOutput)));
    }
    this.#child.on('error', (error) => this.#asked?.fail(explainSystemError(error) as Error));
    this.#child.on('close', (code, signal) => {
      this.#ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
      this.#asked?.fail(this.#noAnswer(this.#asked.question));
    });
  }

  /** Whether it still answers. */
  get isRunning(): boolean {
    return this.#ending === null && !this.#child.killed;
  }

  /**
   * Asks the next question, after the answer to the one before.
   * @throws Error with the output of the process if it ends without an answer
   */
  async ask<Answer extends object>(question: Question): Promise<Answer> {
    const { message, timeoutMs, signal } = question;
    signal?.throwIfAborted();
    if (this.#ending !== null) throw this.#noAnswer(question);
    const sinceMs = performance.now();
    const exceed = (): void => {
      this.#overdue = this.#describeTime(question, sinceMs);
      this.end();
    };
    const limit = new TimeLimit(timeoutMs, exceed, { waitedMs: this.#time?.waitedMs });
    const { promise, resolve: succeed, reject: fail } = Promise.withResolvers<object>();
    this.#asked = { question, limit, succeed, fail };
    const abort = (): void => {
      this.end();
      fail(signal?.reason instanceof Error ? signal.reason : new Error(`${question.subject}: it was aborted.`));
    };
    signal?.addEventListener('abort', abort);
    try {
      // A process that has just ended cannot be asked; its end says why.
      if (message !== undefined && this.#channel.isOpen) this.#channel.send(frameOfValue(message));
      return (await promise) as Answer;
    } finally {
      limit.stop();
      signal?.removeEventListener('abort', abort);
      this.#asked = null;
    }
  }

  /** Ends it, also while it answers. A project's timers would keep it, and with it the hub, alive. */
  end(): void {
    this.#child.kill('SIGKILL');
  }

  #receive(message: object): void {
    if (this.#asked === null) return;
    const { question, limit, succeed } = this.#asked;
    if (!('type' in message) || message.type !== 'progress') return succeed(message);
    if ('doing' in message) this.#doing = String(message.doing);
    limit.restart();
    question.progress?.(message);
  }

  #describeTime({ timeoutMs, remedy }: Question, sinceMs: number): string {
    const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;
    const computed = this.#time === null ? '' : `, of which it computed ${seconds(this.#time.computedMs())}`;
    return (
      `its process was ended after ${seconds(performance.now() - sinceMs)}${computed}, because it was still ` +
      `${this.#doing} when its limit of ${seconds(timeoutMs)}, without waiting for a processor, had ` +
      `passed.${remedy === undefined ? '' : ` ${remedy}`}`
    );
  }

  #noAnswer({ subject }: Question): Error {
    const why = this.#overdue ?? `its process ended without an answer, by ${this.#ending}.`;
    const output = this.#output.trim();
    return new Error(`${subject}: ${why} ${output === '' ? 'It printed nothing.' : `It printed:\n${output}`}`);
  }
}

/**
 * Starts a Node process for one question, and ends it after the answer.
 * @throws Error with the output of the process if it ends without an answer
 */
export async function askProcess<Answer extends object>(question: ProcessOptions & Question): Promise<Answer> {
  question.signal?.throwIfAborted();
  const process = new StandingProcess(question);
  try {
    return await process.ask<Answer>(question);
  } finally {
    process.end();
  }
}
